import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/**
 * A committed migration never changes: databases identify it by the hash of its text, and one that recorded a hash
 * without a matching file cannot be upgraded. The first migration is the baseline. A new baseline, with a new name,
 * replaces all migrations before it, and starts over: databases that those created cannot be upgraded.
 */
export const MIGRATIONS = 'drizzle/migrations'

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
  const listed: string[] = journal.entries.map(({ tag }: { tag: string }) => `${tag}.sql`)
  const names = readdirSync(join(folder, MIGRATIONS)).filter((name) => name.endsWith('.sql'))
  return [
    ...(names.sort().join() === listed.join()
      ? []
      : [`meta/_journal.json lists ${listed.join(', ')}, but the files are ${names.join(', ')}`]),
    ...historyFaults(folder, listed[0]!),
    ...names
      .filter((name) => name !== listed[0])
      .flatMap((name) => [...destructiveFaults(folder, name), ...lockFaults(folder, name)]),
  ]
}

/** If there is git history, every migration since the baseline must still be as it was when it was added. */
function historyFaults(folder: string, baseline: string): string[] {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' })
  const added = new Map<string, string>()
  try {
    const log = git(
      'log',
      '--diff-filter=A',
      '--no-renames',
      '--format=commit %H',
      '--name-only',
      '--',
      MIGRATIONS,
    )
    // The newest commit comes first.
    let commit = ''
    for (const line of log.split('\n')) {
      if (line.startsWith('commit ')) commit = line.slice('commit '.length)
      else if (line.endsWith('.sql')) added.set(basename(line), git('show', `${commit}:${line}`))
      if (added.has(baseline)) break
    }
  } catch {
    return []
  }
  if (!added.has(baseline)) return []
  return [...added].flatMap(([name, text]) => {
    const path = join(folder, MIGRATIONS, name)
    if (existsSync(path) && readFileSync(path, 'utf8') === text) return []
    return `${name} differs from the commit that added it, and databases may have recorded it: restore it, and put your change into a new migration`
  })
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
