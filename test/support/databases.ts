import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, inject } from 'vitest'
import { type DatabaseHandle, rows } from '#lib/platform/db/database.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { createDatabase } from './postgres.ts'

/** A migrated database for a single test, dropped when it closes. */
export async function openTestDatabase(): Promise<DatabaseHandle & { url: string }> {
  const { url, drop } = await createDatabase(inject('postgresUrl'), inject('migrated'))
  const handle = openPostgres({ address: url })
  const close = async () => {
    await handle.close()
    await drop()
  }
  return { ...handle, url, close }
}

/** Resolves once this many sessions in this database are waiting for locks that other sessions have. */
export async function blocked({ db }: Pick<DatabaseHandle, 'db'>, sessions = 1): Promise<void> {
  const look = sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  while ((await rows(db, look)).length < sessions);
}

/** Describes tests that share one database. Inside a test, `database()` returns its handle. */
export function describeWithDatabase(
  name: string,
  tests: (database: () => DatabaseHandle & { url: string }) => void,
): void {
  describe(name, () => {
    let handle: DatabaseHandle & { url: string }
    beforeAll(async () => {
      handle = await openTestDatabase()
    })
    afterAll(() => handle?.close())
    tests(() => handle)
  })
}
