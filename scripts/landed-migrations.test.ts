import { execFileSync } from 'node:child_process'
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { hashOf, LIST, MIGRATIONS, migrationFaults, readList, sqlFiles } from './landed-migrations.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-migrations-'))
  cpSync(MIGRATIONS, join(folder, MIGRATIONS), { recursive: true })
})
afterEach(() => rmSync(folder, { recursive: true }))

const all = readList('.')
const first = all.find(({ name }) => sqlFiles('.').includes(name))
const replaced = all.slice(0, all.indexOf(first!))
const write = (name: string, text: string) => writeFileSync(join(folder, MIGRATIONS, name), text)
const append = (name: string, text: string) => appendFileSync(join(folder, MIGRATIONS, name), text)
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...args], { cwd: folder })

/** The list that matches the given files. */
function listAll(): void {
  const files = sqlFiles(folder).map((name) => ({ hash: hashOf(folder, name), name }))
  const lines = [...replaced, ...files].map(({ hash, name }) => `${hash}  ${name}\n`)
  writeFileSync(join(folder, LIST), lines.join(''))
}

it('accepts the current migrations', () => {
  expect(migrationFaults(folder)).toEqual([])
})

it('rejects an edit to a landed migration, even one that only removes a space', () => {
  append(first!.name, ' ')
  expect(migrationFaults(folder)).toEqual([expect.stringContaining(`${first!.name} differs from ${LIST}`)])
})

it('rejects a missing landed migration, and one that is not listed', () => {
  rmSync(join(folder, MIGRATIONS, first!.name))
  write('9999_planted.sql', 'create table planted (n int)')
  const faults = migrationFaults(folder).join('\n')
  expect(faults).toContain(`${first!.name} is in ${LIST}, but the file is gone`)
  expect(faults).toContain(`9999_planted.sql is not in ${LIST}`)
})

it('rejects a list that differs from the journal', () => {
  write('9999_planted.sql', 'create table planted (n int)')
  listAll()
  expect(migrationFaults(folder)).toEqual([expect.stringContaining('do not name the same migrations')])
})

it('rejects a list without the migrations that the baseline replaces, if there is history', () => {
  git('init', '--quiet', '--initial-branch=main')
  git('add', '.')
  git('commit', '--quiet', '--message=Land')
  const text = readFileSync(join(folder, LIST), 'utf8')
  writeFileSync(join(folder, LIST), text.slice(text.indexOf(first!.hash)))
  const { hash, name } = replaced[0]!
  expect(migrationFaults(folder)).toContain(
    `the line "${hash}  ${name}" in ${LIST} has landed and may not change`,
  )
})

it('rejects an edit that also changes the list, if there is history', () => {
  git('init', '--quiet', '--initial-branch=main')
  git('add', '.')
  git('commit', '--quiet', '--message=Land')
  append(first!.name, ' ')
  listAll()
  const fault = `the line "${first!.hash}  ${first!.name}" in ${LIST} has landed and may not change`
  expect(migrationFaults(folder)).toEqual([fault])
  git('commit', '--quiet', '--all', '--message=Edit')
  expect(migrationFaults(folder)).toContain(fault)
})

it.each([
  ['ALTER TABLE "files" DROP COLUMN "crc32";', 'drops'],
  ['DROP TABLE "events";', 'drops'],
  ['ALTER TABLE "files" RENAME COLUMN "crc32" TO "checksum";', 'renames'],
  ['ALTER TABLE "files" ALTER COLUMN "crc32" SET DATA TYPE text;', 'changes a type'],
  ['ALTER TABLE "files" ALTER COLUMN "length_bytes" SET NOT NULL;', 'forbids null'],
  ['ALTER TABLE "files" ADD COLUMN "owner" text NOT NULL;', 'adds a required column'],
])('rejects changes that break the previous release: %s', (statement, what) => {
  write('9999_planted.sql', statement)
  listAll()
  const faults = () => migrationFaults(folder).join('\n')
  expect(faults()).toContain(`9999_planted.sql ${what}`)
  write('9999_planted.sql', `-- contract: nothing since 0.2 reads it\n${statement}`)
  listAll()
  expect(faults()).not.toContain(`9999_planted.sql ${what}`)
})

it.each([
  'ALTER TABLE "files" ADD COLUMN "owner" text;',
  `ALTER TABLE "files" ADD COLUMN "owner" text DEFAULT '' NOT NULL;`,
  'CREATE TABLE "owners" ("id" uuid PRIMARY KEY NOT NULL);',
])('accepts changes that only add: %s', (statement) => {
  write('9999_planted.sql', statement)
  listAll()
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
  write('9999_planted.sql', statements)
  listAll()
  expect(migrationFaults(folder).join('\n')).toContain(`9999_planted.sql ${what}`)
})

it.each([
  'CREATE INDEX CONCURRENTLY IF NOT EXISTS "a" ON "files" ("a");',
  'CREATE TABLE "owners" ("id" uuid); CREATE INDEX "a" ON "owners" ("id"); ALTER TABLE "owners" ADD COLUMN "b" text;',
])('lets uploads continue: %s', (statements) => {
  write('9999_planted.sql', statements)
  listAll()
  expect(migrationFaults(folder).join('\n')).not.toContain('9999_planted.sql')
})
