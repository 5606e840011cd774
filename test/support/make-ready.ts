import { eq } from 'drizzle-orm'
import { dataStores } from '#drizzle/schema/index.ts'
import type { Db } from '#lib/platform/db/database.ts'

/** Puts a Data Store into the state that follows a successful check. */
export async function makeReady(db: Db, { id }: { id: string }): Promise<void> {
  await db.update(dataStores).set({ readyAt: new Date() }).where(eq(dataStores.id, id))
}
