import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, inject } from 'vitest'
import { type DatabaseHandle, type Db, rows } from '#lib/platform/db/database.ts'
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

/** Keeps a transaction open after `work`, with all its locks, until the returned function is called. */
export async function holdTransaction(
  { db }: Pick<DatabaseHandle, 'db'>,
  work: (tx: Db) => PromiseLike<unknown>,
): Promise<() => Promise<void>> {
  const [done, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const held = db.transaction(async (tx) => {
    await work(tx)
    done.resolve()
    await gate.promise
  })
  await Promise.race([done.promise, held])
  return () => {
    gate.resolve()
    return held
  }
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
