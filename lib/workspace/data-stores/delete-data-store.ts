import { eq, sql } from 'drizzle-orm'
import { dataStores } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import { rows } from '../../platform/db/database.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import type { CoreRuntime, Runtime } from '../../platform/runtime.ts'
import { PIPE_DESTINATIONS } from '../pipes/destinations.ts'
import { countUploadsUnderWay, findDataStore, uploads } from './read-data-stores.ts'

const MAX_NAMES = 10

/** The row stays, since files refer to it; its keys are erased. The bucket and its objects belong to the customer. */
export async function deleteDataStore({ db, clock }: CoreRuntime, actor: Actor, id: string): Promise<void> {
  await db.transaction(async (tx) => {
    const { name } = await findDataStore(tx, actor, id, 'update')
    await assertUnused(tx, id)
    await tx
      .update(dataStores)
      .set({ deletedAt: new Date(clock.now()), accessKeyIdEncrypted: '', secretAccessKeyEncrypted: '' })
      .where(eq(dataStores.id, id))
    const entry = { action: 'data_store.deleted', subjectId: id, subjectLabel: name }
    await recordAudit({ db: tx, clock }, actor, entry)
  })
}

async function assertUnused(tx: Runtime['db'], id: string): Promise<void> {
  const users = await rows<{ name: string }>(
    tx,
    sql`select p.name from ${PIPE_DESTINATIONS} d join pipes p on p.id = d.pipe_id
      where d.data_store_id = ${id}::uuid and p.deleted_at is null order by p.name limit ${MAX_NAMES}::int`,
  )
  if (users.length > 0) {
    const names = users.map((pipe) => `“${pipe.name}”`).join(', ')
    throw new SluiceError(
      'conflict',
      `Used by ${names}. Move these Pipes to another Data Store, or delete them first.`,
    )
  }
  const underWay = await countUploadsUnderWay(tx, id)
  if (underWay > 0)
    throw new SluiceError(
      'conflict',
      `${uploads(underWay)} still in progress to this Data Store. Wait until all of them have ended.`,
    )
}
