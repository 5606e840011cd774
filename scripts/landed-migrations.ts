import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * A landed migration never changes: databases identify it by the hash of its text, and a database that recorded a hash
 * without a matching file cannot be upgraded. `landed.txt` lists each migration with that hash, in `sha256sum` format.
 * The first one that still has a file is the baseline. It replaces its predecessors, whose lines stay because they
 * identify databases.
 */
export const MIGRATIONS = 'drizzle/migrations'
export const LIST = `${MIGRATIONS}/landed.txt`

/**
 * A release must run on the schema of the next one, so a migration removes nothing that the previous release uses.
 */
const DESTRUCTIVE: [pattern: RegExp, what: string][] = [
  [/\bdrop\s+(table|column|type|schema|view)\b/i, 'drops'],
  [/\brename\b/i, 'renames'],
  [/\balter\s+column\s+\S+\s+(set\s+data\s+)?type\b/i, 'changes a type'],
  [/\bset\s+not\s+null\b/i, 'forbids null'],
  [
    /\badd\s+column\b(?!.*\b(default|generated\s+always)\b).*\bnot\s+null\b/i,
    'adds a required column without a default',
  ],
]
const CONTRACTS = /^-- contract: \S+/m

export function migrationFaults(folder = '.'): string[] {
  const journal = JSON.parse(readFileSync(join(folder, MIGRATIONS, 'meta/_journal.json'), 'utf8'))
  const tags: string[] = journal.entries.map(({ tag }: { tag: string }) => `${tag}.sql`)
  const all = readList(folder)
  const listed = all.slice(
    Math.max(
      all.findIndex(({ name }) => name === tags[0]),
      0,
    ),
  )
  return [
    ...listed.flatMap(({ name, hash }) => changedFault(folder, name, hash)),
    ...sqlFiles(folder)
      .filter((name) => !listed.some((entry) => entry.name === name))
      .map((name) => `${name} is not in ${LIST}: \`npm run migration\` adds it`),
    ...(listed.map(({ name }) => name).join() === tags.join()
      ? []
      : [`${LIST} and meta/_journal.json do not name the same migrations in the same order`]),
    ...historyFaults(folder),
    ...sqlFiles(folder)
      .filter((name) => name !== tags[0])
      .flatMap((name) => [
        ...destructiveFaults(folder, name),
        ...(name > UNCHECKED ? lockFaults(folder, name) : []),
      ]),
  ]
}

export function hashOf(folder: string, name: string): string {
  return createHash('sha256')
    .update(readFileSync(join(folder, MIGRATIONS, name)))
    .digest('hex')
}

export function sqlFiles(folder: string): string[] {
  return readdirSync(join(folder, MIGRATIONS))
    .filter((name) => name.endsWith('.sql'))
    .sort()
}

export function readList(folder: string): { hash: string; name: string }[] {
  const text = existsSync(join(folder, LIST)) ? readFileSync(join(folder, LIST), 'utf8') : ''
  return linesOf(text).map((line) => {
    const [hash = '', name = ''] = line.split(/\s+/)
    return { hash, name }
  })
}

const linesOf = (text: string) => text.split('\n').filter(Boolean)

function changedFault(folder: string, name: string, hash: string): string[] {
  if (!existsSync(join(folder, MIGRATIONS, name))) return [`${name} is in ${LIST}, but the file is gone`]
  if (hashOf(folder, name) === hash) return []
  return [
    `${name} differs from ${LIST}. If it has landed, restore it and put your change into a new migration. If it is ` +
      `yours and has not, remove its line there and run \`npm run migration\``,
  ]
}

/** If there is git history, every line that has ever landed must still be at its position. */
function historyFaults(folder: string): string[] {
  const now = linesOf(readFileSync(join(folder, LIST), 'utf8'))
  const changed = landedLists(folder).flatMap((lines) => lines.filter((line, at) => now[at] !== line))
  return [...new Set(changed)].map((line) => `the line "${line}" in ${LIST} has landed and may not change`)
}

/** Every version of the list on the main branch, as far back as this clone goes; none without git. */
function landedLists(folder: string): string[][] {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  for (const branch of ['origin/main', 'main', 'HEAD']) {
    try {
      const commits = linesOf(git('rev-list', git('merge-base', 'HEAD', branch), '--', LIST))
      return commits.map((commit) => linesOf(git('show', `${commit}:./${LIST}`)))
    } catch {}
  }
  return []
}

function destructiveFaults(folder: string, name: string): string[] {
  const text = readFileSync(join(folder, MIGRATIONS, name), 'utf8')
  if (CONTRACTS.test(text)) return []
  const statements = text.replace(/--.*$/gm, '').split(';')
  return statements.flatMap((statement) =>
    DESTRUCTIVE.filter(([pattern]) => pattern.test(statement.replace(/\s+/g, ' '))).map(
      ([, what]) =>
        `${name} ${what}, which breaks the previous release: "${statement.trim().slice(0, 80)}". Expand ` +
        'first; in a later release, write `-- contract: <what no longer uses it>` in the migration',
    ),
  )
}

/**
 * Migrations up to this one landed before locks were checked; each attempt to apply one is limited to the time allowed
 * for one lock.
 */
const UNCHECKED = '0016_note_who_was_in_an_account.sql'

/** Patterns for statements that make a table's writers wait. Each captures the table's name. */
const LOCKING = [
  /\b(?:alter|drop)\s+table\s+(?:if\s+exists\s+)?(?:only\s+)?"?(\w+)"?/i,
  /\block\s+table\s+(?:only\s+)?"?(\w+)"?/i,
  /\bcreate\s+(?:or\s+replace\s+)?trigger\b.*?\bon\s+"?(\w+)"?/i,
  /\breferences\s+(?:"?public"?\.)?"?(\w+)"?/i,
]
const INDEX = /\bcreate\s+(?:unique\s+)?index\s+(?!concurrently).*?\bon\s+(?:"?public"?\.)?"?(\w+)"?/i

/**
 * While uploads continue, a migration may block the writers of one table at a time, but not while it builds an index.
 */
function lockFaults(folder: string, name: string): string[] {
  const text = readFileSync(join(folder, MIGRATIONS, name), 'utf8').replace(/--.*$/gm, '')
  const statements = text.split(';').map((statement) => statement.replace(/\s+/g, ' ').trim())
  const made = new Set(
    statements.flatMap((one) => one.match(/\bcreate table (?:if not exists )?"?(\w+)"?/i)?.[1] ?? []),
  )
  const tables = (pattern: RegExp) =>
    statements.flatMap((one) => one.match(pattern)?.[1] ?? []).filter((table) => !made.has(table))
  const locked = [...new Set(LOCKING.flatMap(tables))]
  const beside = statements.filter((one) => /\bconcurrently\b/i.test(one))
  return [
    ...(locked.length > 1
      ? [`${name} locks ${locked.join(' and ')} at once: use one migration for each`]
      : []),
    ...[...new Set(tables(INDEX))].map(
      (table) =>
        `${name} builds an index on ${table} while its writers wait: use CREATE INDEX CONCURRENTLY in a separate migration`,
    ),
    ...(beside.length > 0 && beside.length < statements.filter(Boolean).length
      ? [
          `${name} contains other statements besides an index that is built concurrently: move them to another migration`,
        ]
      : []),
  ]
}

if (import.meta.main) {
  const faults = migrationFaults()
  for (const fault of faults) console.log(fault)
  process.exit(faults.length === 0 ? 0 : 1)
}
