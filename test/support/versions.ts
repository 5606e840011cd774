import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { copySource } from './sluice.ts'
import { removeWithThisProcess } from './until-exit.ts'

/**
 * Checks out the source at a git ref: by default that in UPGRADE_FROM, or the commit with the oldest schema that can be
 * upgraded. It uses the packages installed now. Undefined if the clone does not include the commit.
 */
export function olderSource(ref = process.env.UPGRADE_FROM ?? baselineCommit()): string | undefined {
  if (!ref || !git(['rev-parse', '--verify', '--quiet', `${ref}^{commit}`])) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'sluice-older-'))
  removeWithThisProcess(folder)
  const source = join(folder, 'source')
  // A separate index, so that the repository's stays unchanged.
  const env = { GIT_INDEX_FILE: join(folder, 'index') }
  git(['read-tree', ref], env)
  git(['checkout-index', '--all', `--prefix=${source}/`], env)
  symlinkSync(resolve('node_modules'), join(source, 'node_modules'))
  return source
}

/** Copies this source and adds a migration, so that there always is one to apply. */
export function newerSource(): string {
  const { parent, source } = copySource()
  removeWithThisProcess(parent)
  const folder = join(source, 'drizzle/migrations')
  const { entries, ...journal } = readJournal(folder)
  const last = entries.at(-1)!
  const planted = { ...last, idx: last.idx + 1, when: last.when + 1, tag: '9999_planted' }
  writeFileSync(join(folder, `${planted.tag}.sql`), 'ALTER TABLE files ADD COLUMN planted text;')
  writeFileSync(join(folder, JOURNAL), JSON.stringify({ ...journal, entries: [...entries, planted] }))
  return source
}

const JOURNAL = 'meta/_journal.json'
type Journal = { entries: { idx: number; when: number; tag: string }[] }
const readJournal = (folder: string): Journal => JSON.parse(readFileSync(join(folder, JOURNAL), 'utf8'))

/** The commit that added the first migration. */
function baselineCommit(): string | undefined {
  const folder = 'drizzle/migrations'
  const baseline = `${folder}/${readJournal(folder).entries[0]!.tag}.sql`
  return git(['log', '--diff-filter=A', '--format=%H', '--max-count=1', '--', baseline])
}

/** The command's output; undefined if it fails. */
function git(args: string[], env: Record<string, string> = {}): string | undefined {
  try {
    return execFileSync('git', args, {
      encoding: 'utf8',
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return undefined
  }
}
