import { spawnSync } from 'node:child_process'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { migrationFaults } from './landed-migrations.ts'

/** `npm run generate -- migration --name what_it_does`: writes the SQL that updates the schema, and checks it. */
const META = 'drizzle/migrations/meta'

const { status } = spawnSync('drizzle-kit', ['generate', ...process.argv.slice(2)], { stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)
// The next migration is compared with the last snapshot, which is 6,000 lines long, and with no earlier one.
const snapshots = readdirSync(META).filter((name) => name.endsWith('_snapshot.json'))
for (const name of snapshots.sort().slice(0, -1)) rmSync(join(META, name))
const faults = migrationFaults()
for (const fault of faults) console.error(fault)
process.exit(faults.length === 0 ? 0 : 1)
