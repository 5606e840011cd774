import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** One hash of the names and contents of all these files and folders, except tests. */
export function hashOfSources(paths: string[], counts: (path: string) => boolean = () => true): string {
  const hash = createHash('sha256')
  for (const path of paths.filter((one) => existsSync(one))) {
    for (const file of filesOf(path).filter(counts))
      hash.update(file).update('\0').update(readFileSync(file)).update('\0')
  }
  return hash.digest('hex')
}

function filesOf(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path)
    .sort()
    .filter((name) => !name.includes('.test.'))
    .flatMap((name) => filesOf(join(path, name)))
}
