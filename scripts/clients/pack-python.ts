import { createHash } from 'node:crypto'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeTarball } from '../release/write-tarball.ts'
import { readApi } from './api-model.ts'
import { writePython } from './write-python.ts'
import { writeZip, type ZipEntry } from './write-zip.ts'

/**
 * Builds the Python package: the wheel and the source distribution. Both are plain archives, so that Node is enough to
 * build them. Runs in the package's folder.
 */
writePython(readApi())
const project = readFileSync('pyproject.toml', 'utf8')
const [name, version, summary, python] = ['name', 'version', 'description', 'requires-python'].map(setting)
const released = JSON.parse(readFileSync('../../package.json', 'utf8')) as { version: string }
if (version !== released.version)
  throw new Error(
    'pyproject.toml and package.json have different versions. All packages are released together.',
  )
const METADATA = `Metadata-Version: 2.4
Name: ${name}
Version: ${version}
Summary: ${summary}
License-Expression: MIT
License-File: LICENSE
Requires-Python: ${python}
Description-Content-Type: text/markdown

${readFileSync('README.md', 'utf8')}`

function setting(key: string): string {
  const found = project.match(new RegExp(`^${key} = "(.*)"$`, 'm'))?.[1]
  if (!found) throw new Error(`pyproject.toml has no ${key}.`)
  return found
}

function writeWheel(): void {
  const info = `${name}-${version}.dist-info`
  const modules = globSync('**/*.{py,typed}', { cwd: 'src' }).sort()
  const entries: ZipEntry[] = [
    ...modules.map((path) => ({ name: path, content: readFileSync(join('src', path)) })),
    { name: `${info}/licenses/LICENSE`, content: readFileSync('LICENSE') },
    { name: `${info}/METADATA`, content: Buffer.from(METADATA) },
    {
      name: `${info}/WHEEL`,
      content: Buffer.from(
        'Wheel-Version: 1.0\nGenerator: sluice\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
      ),
    },
  ]
  const digest = (content: Buffer) => createHash('sha256').update(content).digest('base64url')
  const lines = entries.map(
    (entry) => `${entry.name},sha256=${digest(entry.content)},${entry.content.length}`,
  )
  const record = [...lines, `${info}/RECORD,,`, ''].join('\n')
  writeZip(`dist/${name}-${version}-py3-none-any.whl`, [
    ...entries,
    { name: `${info}/RECORD`, content: Buffer.from(record) },
  ])
}

async function writeSource(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-python-'))
  const isSource = (path: string) => !/(__pycache__|\.pyc$)/.test(path)
  for (const path of ['pyproject.toml', 'README.md', 'LICENSE', 'src'])
    cpSync(path, join(folder, path), { recursive: true, filter: isSource })
  writeFileSync(join(folder, 'PKG-INFO'), METADATA)
  await writeTarball(folder, `dist/${name}-${version}.tar.gz`, `${name}-${version}`)
  rmSync(folder, { recursive: true })
}

mkdirSync('dist', { recursive: true })
writeWheel()
await writeSource()
