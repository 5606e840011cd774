import { readFileSync } from 'node:fs'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, inject } from 'vitest'
import { type DatabaseHandle, rows } from '#lib/db/database.ts'
import { migrate } from '#lib/db/migrate.ts'
import { openEmbedded } from '#lib/db/open-embedded.ts'
import { openPostgres } from '#lib/db/open-postgres.ts'
import { createDatabase } from './postgres.ts'

/** A migrated PostgreSQL database of the test's own, dropped when it closes. */
export async function openTestPostgres(): Promise<DatabaseHandle & { url: string }> {
  const { url, drop } = await createDatabase(inject('postgresUrl'))
  const handle = openPostgres({ url })
  await migrate(handle.db)
  const close = async () => {
    await handle.close()
    await drop()
  }
  return { ...handle, url, close }
}

/** Resolves when a session of this PostgreSQL database waits for a lock that another holds. */
export async function blocked({ db }: Pick<DatabaseHandle, 'db'>): Promise<void> {
  const look = sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  while ((await rows(db, look)).length === 0);
}

/** A copy of the one that the setup made: a new one takes four seconds of CPU more. */
const openTestEmbedded = (): Promise<DatabaseHandle> =>
  openEmbedded('memory', new Blob([readFileSync(inject('embeddedContent'))]))

/** Runs the same tests on both databases. `database()` is the handle, inside a test. */
export function onBothDatabases(name: string, tests: (database: () => DatabaseHandle) => void): void {
  describe.each([
    ['embedded', openTestEmbedded],
    ['PostgreSQL', openTestPostgres],
  ] as const)(`${name}, %s`, (_, open) => {
    let handle: DatabaseHandle
    beforeAll(async () => {
      handle = await open()
    })
    afterAll(() => handle?.close())
    tests(() => handle)
  })
}
