import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { type Actor, recordAudit } from '../identity/audit/record-audit.ts'
import { type Db, rows } from '../platform/db/database.ts'
import type { Clock } from '../platform/kernel/clock.ts'
import type { Runtime } from '../platform/runtime.ts'
import { batchId, batchOf } from '../uploads/rules/batch.ts'
import type { CreationRight } from '../uploads/upload-context.ts'
import { mayUsePipe, WITH_GROUP } from '../workspace/senders/limits.ts'
import { authenticateSender } from '../workspace/senders/read-senders.ts'
import { batchField, tokenInput } from '../workspace/tokens/token.ts'
import { type Batch, noBatch, readBatch, showBatch } from './batch.ts'

const { pipeId, subject } = tokenInput.shape
export const sealInput = z.strictObject({ pipeId, batch: batchField, subject })

/**
 * Sealing a batch again changes nothing. Waits for requests that are adding files to it: see `joinBatches`. The update
 * cannot see a batch whose first file is still being created; if the read after it can, the batch is sealed next.
 */
async function seal(
  { db, clock }: { db: Db; clock: Clock },
  id: string,
): Promise<Batch & { isNew: boolean }> {
  const sealed = await rows(
    db,
    sql`update batches set sealed_at = ${new Date(clock.now()).toISOString()}::timestamptz
      where id = ${id}::uuid and sealed_at is null returning id`,
  )
  const batch = await readBatch(db, id)
  if (!batch) throw noBatch()
  if (batch.sealedAt === null) return seal({ db, clock }, id)
  return { ...batch, isNew: sealed.length > 0 }
}

/** Seals a batch for the backend that named it in its tokens. */
export async function sealNamedBatch(
  runtime: Runtime,
  senderToken: string,
  { pipeId, batch: name, subject }: z.output<typeof sealInput>,
): Promise<Batch> {
  const { id: senderId } = await authenticateSender(runtime, senderToken)
  const looked = sql`select from senders s ${WITH_GROUP} where s.id = ${senderId}::uuid and ${mayUsePipe(sql`${pipeId}`)}`
  if ((await rows(runtime.db, looked)).length === 0) throw noBatch()
  const { isNew: _, ...batch } = await seal(
    runtime,
    batchId({ pipeId, senderId, subject: subject ?? null, name, byToken: true }),
  )
  return batch
}

/**
 * Seals a batch for the uploader of its files: the batch that the token names or, if it names none, the uploader's
 * batch with this name.
 */
export async function sealOwnBatch(
  context: { db: Db; clock: Clock },
  { token, pipe }: CreationRight,
  name: string | undefined,
): Promise<Batch> {
  const own = batchOf(token, pipe.id, name)
  if (!own) throw noBatch()
  const { isNew: _, ...batch } = await seal(context, own.id)
  return batch
}

export async function sealBatch(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  actor: Actor,
  id: string,
): Promise<Batch> {
  return db.transaction(async (tx) => {
    const inside = { db: tx, clock }
    await showBatch(inside, actor, id)
    const { isNew, ...batch } = await seal(inside, id)
    const entry = { action: 'batch.sealed', subjectId: id, subjectLabel: batch.name }
    if (isNew) await recordAudit(inside, actor, entry)
    return batch
  })
}
