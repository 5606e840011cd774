import { and, eq, isNull } from 'drizzle-orm'
import { dataStores, pipeDestinations, pipes } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { countUploadsUnderWay, findDataStore, uploads } from './read-data-stores.ts'

const MAX_NAMES = 10

/** The row stays, since files name it; its keys are wiped. The bucket and its objects are the customer's. */
export async function deleteDataStore(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  actor: Actor,
  id: string,
): Promise<void> {
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
  const users = await tx
    .select({ name: pipes.name })
    .from(pipeDestinations)
    .innerJoin(pipes, eq(pipes.id, pipeDestinations.pipeId))
    .where(and(eq(pipeDestinations.dataStoreId, id), isNull(pipes.deletedAt)))
    .orderBy(pipes.name)
    .limit(MAX_NAMES)
  if (users.length > 0) {
    const names = users.map((pipe) => `“${pipe.name}”`).join(', ')
    throw new SluiceError(
      'conflict',
      `Used by ${names}. Give them another Data Store, or delete them, first.`,
    )
  }
  const underWay = await countUploadsUnderWay(tx, id)
  if (underWay > 0)
    throw new SluiceError('conflict', `${uploads(underWay)} still under way to it. Wait until they end.`)
}
