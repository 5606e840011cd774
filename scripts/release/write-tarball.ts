import { createHash } from 'node:crypto'
import { globSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { create, list } from 'tar'

/** The folder for everything in a release. */
export const FOLDER = '.release'

export type Artefact = { file: string; bytes: number; sha256: string }

/**
 * Packs the same files into the same bytes, at any time and on any machine. npm's own tool leaves out nested
 * node_modules.
 */
export async function writeTarball(folder: string, file: string, prefix = 'package'): Promise<Artefact> {
  const files = globSync('**/*', { cwd: folder, exclude: [] })
    .concat(globSync('{.next,.kit}/**/*', { cwd: folder }))
    .filter((path) => statSync(`${folder}/${path}`).isFile())
    .sort()
  // npm's own date for this: files from before 1980 cannot be packed into a ZIP archive, such as a wheel.
  const mtime = new Date('1985-10-26T08:15:00Z')
  const same = { portable: true, mtime, gzip: { level: 9 }, noDirRecurse: true }
  await create({ ...same, cwd: folder, prefix, file }, [...new Set(files)])
  return describe(file)
}

/** The digest of each file in a tarball; an empty map if the file is not a tarball. */
export async function digestsOf(file: string): Promise<Map<string, string>> {
  const digests = new Map<string, string>()
  if (!file.endsWith('.tgz')) return digests
  await list({
    file: join(FOLDER, file),
    onReadEntry: (entry) => {
      const hash = createHash('sha256')
      entry.on('data', (chunk) => hash.update(chunk))
      entry.on('end', () => digests.set(entry.path, hash.digest('hex')))
    },
  })
  return digests
}

export function tarballOf({ name, version }: { name: string; version: string }): string {
  return join(FOLDER, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`)
}

export function describe(path: string): Artefact {
  const content = readFileSync(path)
  return {
    file: basename(path),
    bytes: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
  }
}
