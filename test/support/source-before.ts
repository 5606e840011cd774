import { execFileSync } from 'node:child_process'
import { mkdtempSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { removeWithThisProcess } from './until-exit.ts'

/**
 * The source as it was before the newest migration landed, beside the packages of today; without a later migration than
 * the first, the commit before this one. Undefined where there is no such history, as in a shallow clone.
 */
export function sourceBefore(): { folder: string; commit: string } | undefined {
  const commit = commitBefore()
  if (!commit) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'sluice-before-'))
  removeWithThisProcess(folder)
  const source = join(folder, 'source')
  // An index of its own, so that the repository's stays as it is.
  const env = { GIT_INDEX_FILE: join(folder, 'index') }
  git(['read-tree', commit], env)
  git(['checkout-index', '--all', `--prefix=${source}/`], env)
  symlinkSync(resolve('node_modules'), join(source, 'node_modules'))
  return { folder: source, commit }
}

function commitBefore(): string | undefined {
  try {
    const landings = git(['log', '--format=%H', '--', 'drizzle/migrations/landed.txt']).split('\n')
    return git(['rev-parse', '--verify', landings.length > 1 ? `${landings[0]}~1` : 'HEAD~1'])
  } catch {
    return undefined
  }
}

function git(args: string[], env: Record<string, string> = {}): string {
  return execFileSync('git', args, {
    encoding: 'utf8',
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()
}
