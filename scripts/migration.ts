import { spawnSync } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { hashOf, LIST, migrationFaults, readList, sqlFiles } from './landed-migrations.ts'

/** `npm run migration -- --name what_it_does`: writes the SQL that updates the schema, and lists it. */
const { status } = spawnSync('drizzle-kit', ['generate', ...process.argv.slice(2)], { stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)

const listed = new Set(readList('.').map(({ name }) => name))
for (const name of sqlFiles('.').filter((name) => !listed.has(name))) {
  appendFileSync(LIST, `${hashOf('.', name)}  ${name}\n`)
  console.log(`${name} is in ${LIST}`)
}
const faults = migrationFaults()
for (const fault of faults) console.error(fault)
process.exit(faults.length === 0 ? 0 : 1)
