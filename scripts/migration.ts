import { spawnSync } from 'node:child_process'
import { migrationFaults } from './landed-migrations.ts'

/** `npm run generate -- migration --name what_it_does`: writes the SQL that updates the schema, and checks it. */
const { status } = spawnSync('drizzle-kit', ['generate', ...process.argv.slice(2)], { stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)
const faults = migrationFaults()
for (const fault of faults) console.error(fault)
process.exit(faults.length === 0 ? 0 : 1)
