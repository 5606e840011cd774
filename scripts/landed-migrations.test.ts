import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { MIGRATIONS, migrationFaults } from './landed-migrations.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-migrations-'))
  cpSync(MIGRATIONS, join(folder, MIGRATIONS), { recursive: true })
})
afterEach(() => rmSync(folder, { recursive: true }))

const CURRENT = readdirSync(MIGRATIONS).filter((name) => name.endsWith('.sql'))
const write = (name: string, text: string) => writeFileSync(join(folder, MIGRATIONS, name), text)
const remove = (name: string) => rmSync(join(folder, MIGRATIONS, name))
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...args], { cwd: folder })
function commit(): void {
  git('add', '.')
  git('commit', '--quiet', '--message=Land')
}

const JOURNAL = 'meta/_journal.json'
/** Adds a migration and its line in the journal. */
function plant(text: string, name = '9999_planted'): void {
  write(`${name}.sql`, text)
  const journal = JSON.parse(readFileSync(join(folder, MIGRATIONS, JOURNAL), 'utf8'))
  journal.entries = journal.entries.filter(({ tag }: { tag: string }) => tag !== name)
  journal.entries.push({ ...journal.entries[0], tag: name })
  write(JOURNAL, JSON.stringify(journal))
}

it('accepts the current migrations', () => {
  expect(migrationFaults(folder)).toEqual([])
})

it('rejects a file that is not in the journal, and one that only the journal has', () => {
  write('9999_planted.sql', 'create table planted (n int)')
  expect(migrationFaults(folder)).toEqual([expect.stringContaining('9999_planted.sql')])
  plant('create table planted (n int)')
  expect(migrationFaults(folder)).toEqual([])
  remove('9999_planted.sql')
  expect(migrationFaults(folder)).toEqual([expect.stringContaining('9999_planted.sql')])
})

it('rejects an edit to a committed migration, even one that is committed and only adds a space', () => {
  git('init', '--quiet')
  commit()
  plant('CREATE TABLE "owners" ("id" uuid);')
  expect(migrationFaults(folder)).toEqual([])
  commit()
  plant('CREATE TABLE "owners" ("id" uuid); ')
  const fault = expect.stringContaining('9999_planted.sql differs from the commit that added it')
  expect(migrationFaults(folder)).toEqual([fault])
  commit()
  expect(migrationFaults(folder)).toEqual([fault])
  remove('9999_planted.sql')
  expect(migrationFaults(folder)).toContainEqual(fault)
})

it('lets a new baseline replace all migrations', () => {
  git('init', '--quiet')
  commit()
  plant('CREATE TABLE "owners" ("id" uuid);')
  commit()
  for (const name of [...CURRENT, '9999_planted.sql']) remove(name)
  write(JOURNAL, JSON.stringify({ entries: [] }))
  plant('CREATE TABLE "everything" ("id" uuid);', '0000_new_baseline')
  commit()
  expect(migrationFaults(folder)).toEqual([])
})

it.each([
  ['ALTER TABLE "files" DROP COLUMN "crc32";', 'drops'],
  ['DROP TABLE "events";', 'drops'],
  ['ALTER TABLE "files" RENAME COLUMN "crc32" TO "checksum";', 'renames'],
  ['ALTER TABLE "files" ALTER COLUMN "crc32" SET DATA TYPE text;', 'changes a type'],
  ['ALTER TABLE "files" ALTER COLUMN "length_bytes" SET NOT NULL;', 'forbids null'],
  ['ALTER TABLE "files" ADD COLUMN "owner" text NOT NULL;', 'adds a required column'],
])('rejects changes that break the previous release: %s', (statement, what) => {
  plant(statement)
  const faults = () => migrationFaults(folder).join('\n')
  expect(faults()).toContain(`9999_planted.sql ${what}`)
  plant(`-- contract: nothing since 0.2 reads it\n${statement}`)
  expect(faults()).not.toContain(`9999_planted.sql ${what}`)
})

it.each([
  'ALTER TABLE "files" ADD COLUMN "owner" text;',
  `ALTER TABLE "files" ADD COLUMN "owner" text DEFAULT '' NOT NULL;`,
  'CREATE TABLE "owners" ("id" uuid PRIMARY KEY NOT NULL);',
])('accepts changes that only add: %s', (statement) => {
  plant(statement)
  expect(migrationFaults(folder).join('\n')).not.toContain('9999_planted.sql')
})

it.each([
  [
    'ALTER TABLE "files" ADD COLUMN "a" text; ALTER TABLE "tokens" ADD COLUMN "a" text;',
    'locks files and tokens',
  ],
  [
    'ALTER TABLE "files" ADD CONSTRAINT "a" FOREIGN KEY ("b") REFERENCES "pipes"("id");',
    'locks files and pipes',
  ],
  ['CREATE INDEX "a" ON "files" USING btree ("a");', 'builds an index on files'],
  [
    'CREATE INDEX CONCURRENTLY "a" ON "files" ("a"); CREATE TABLE "owners" ("id" uuid);',
    'contains other statements',
  ],
])('rejects changes that would make uploads wait: %s', (statements, what) => {
  plant(statements)
  expect(migrationFaults(folder).join('\n')).toContain(`9999_planted.sql ${what}`)
})

it.each([
  'CREATE INDEX CONCURRENTLY IF NOT EXISTS "a" ON "files" ("a");',
  'CREATE TABLE "owners" ("id" uuid); CREATE INDEX "a" ON "owners" ("id"); ALTER TABLE "owners" ADD COLUMN "b" text;',
])('lets uploads continue: %s', (statements) => {
  plant(statements)
  expect(migrationFaults(folder).join('\n')).not.toContain('9999_planted.sql')
})
