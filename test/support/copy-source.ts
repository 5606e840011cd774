import { cpSync, mkdirSync, mkdtempSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** Present in the copy, but shared with the original. */
const SHARED = ['node_modules', '.next']
const LEFT_OUT = ['.git', '.data', 'test-results', ...SHARED]

/**
 * Copies the source into a folder with a space, a percent sign and an accented character in its name, since users have
 * such folders. Tests start all their servers from this copy. The caller must remove `parent`.
 */
export function copySource(): { parent: string; source: string } {
  const parent = mkdtempSync(join(tmpdir(), 'sluice-source-'))
  const source = join(parent, 'my 100%25 sluice é')
  cpSync('.', source, { recursive: true, filter: (path) => !LEFT_OUT.includes(path) })
  for (const name of SHARED) {
    mkdirSync(name, { recursive: true })
    symlinkSync(resolve(name), join(source, name))
  }
  return { parent, source }
}
