import { createHash } from 'node:crypto'
import { globSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { create } from 'tar'

/** Where everything of a release is made. */
export const FOLDER = '.release'

export type Artefact = { file: string; bytes: number; sha256: string }

/** The same bytes for the same files, whoever packs them and when: npm's own leaves out what lies in a nested node_modules. */
export async function writeTarball(folder: string, file: string): Promise<Artefact> {
  const files = globSync('**/*', { cwd: folder, exclude: [] })
    .concat(globSync('{.next,.kit}/**/*', { cwd: folder }))
    .filter((path) => statSync(`${folder}/${path}`).isFile())
    .sort()
  const same = { portable: true, mtime: new Date(0), gzip: { level: 9 }, noDirRecurse: true }
  await create({ ...same, cwd: folder, prefix: 'package', file }, [...new Set(files)])
  return describe(file)
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
