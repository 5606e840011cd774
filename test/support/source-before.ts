import { execFileSync } from 'node:child_process'
import { mkdtempSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { removeWithThisProcess } from './until-exit.ts'

/** The oldest version that can be upgraded. */
const OLDEST = '757d55cce15938c2f7702cfdb1414b48e48db2d4'

/**
 * Checks out a commit's source, which uses the packages installed now. Undefined if the clone does not include the
 * commit.
 */
export function sourceBefore(commit = OLDEST): { folder: string; commit: string } | undefined {
  if (!isThere(commit)) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'sluice-before-'))
  removeWithThisProcess(folder)
  const source = join(folder, 'source')
  // A separate index, so that the repository's stays unchanged.
  const env = { GIT_INDEX_FILE: join(folder, 'index') }
  git(['read-tree', commit], env)
  git(['checkout-index', '--all', `--prefix=${source}/`], env)
  symlinkSync(resolve('node_modules'), join(source, 'node_modules'))
  return { folder: source, commit }
}

/** The commit before the one that added the migration `next`: the last version without it. */
export function commitBefore(next: string): string | undefined {
  const added = git(['log', '--diff-filter=A', '--format=%H', '--', `drizzle/migrations/${next}`])
  return added ? git(['rev-parse', `${added.split('\n').at(-1)}^`]) : undefined
}

function isThere(commit: string): boolean {
  try {
    return git(['rev-parse', '--verify', `${commit}^{commit}`]) !== ''
  } catch {
    return false
  }
}

function git(args: string[], env: Record<string, string> = {}): string {
  return execFileSync('git', args, {
    encoding: 'utf8',
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()
}
