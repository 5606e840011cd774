import { emitFileEvent } from '../../events/emit-file-event.ts'
import type { Db } from '../../platform/db/database.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { countRefusedCreation } from '../../workspace/tokens/refused-creations.ts'
import {
  type BadEnd,
  capExpiry,
  clearLater,
  erase,
  giveBackCount,
  recordEnd,
  retire,
} from '../ledger/endings.ts'
import { lacksBytes, readStatus } from '../ledger/open-uploads.ts'
import type { Upload } from '../opening/upload.ts'
import { classify } from '../rules/faults.ts'
import type { UploadContext } from '../upload-context.ts'

type Ending = Pick<UploadContext, 'db' | 'clock' | 'emitEvents' | 'metrics'>

/** The parts of the runtime that a caller without an upload context needs to end an upload. */
export type EndingRuntime = Pick<Runtime, 'db' | 'clock' | 'queue' | 'metrics'>

export function endingContext(runtime: EndingRuntime): Ending {
  const { db, clock, metrics } = runtime
  return {
    db,
    clock,
    metrics,
    emitEvents: (tx, ...fileIds) => emitFileEvent(tx, runtime, ...fileIds),
  }
}

/**
 * Every upload that ends without an object passes through here, whether it fails, expires, or is canceled. One
 * transaction changes the upload's status, writes its event, deletes its tail and returns its reservation. A request
 * that is writing to the upload loses its lease. False if the upload had already ended.
 */
export async function endUpload(context: Ending, fileId: string, end: BadEnd): Promise<boolean> {
  const ended = await context.db.transaction(async (tx) => {
    const done = await recordEnd(tx, fileId, end, context.clock.now())
    if (done) await context.emitEvents(tx, fileId)
    return done
  })
  if (ended) context.metrics.uploadsFinished.inc({ status: end.status })
  return ended
}

/** Cancels an unfinished upload for its client or the customer. */
export async function cancelUpload(
  context: Ending,
  upload: { fileId: string; workspaceId: string },
): Promise<void> {
  const { fileId } = upload
  let status = await readStatus(context.db, upload)
  const end = { status: 'canceled', reason: null, from: ['uploading'] } as const
  if (status === 'uploading') {
    if (await endUpload(context, fileId, end)) return
    // The upload is no longer `uploading`: it is complete, or the client has sent the same request twice.
    status = await readStatus(context.db, upload)
  }
  if (!status) throw new SluiceError('upload_not_found')
  if (status === 'canceled') return
  const words =
    status === 'uploading' || status === 'transferring'
      ? 'All bytes of the upload have arrived and it is being completed, so it can no longer be canceled.'
      : `The upload is already ${status}.`
  throw new SluiceError('conflict', words)
}

const INTERRUPTED = {
  status: 'failed',
  reason: 'interrupted',
  from: ['uploading'],
  provided: lacksBytes,
} as const

/**
 * Fails an upload whose only request was interrupted and which nobody can continue. The upload does not count toward
 * the files that the token may create, so the client can send the file again; if the client interrupted the request,
 * that counts against a separate limit. False if the upload had already ended.
 */
export async function failInterrupted(
  context: Ending,
  fileId: string,
  { cutByClientOf }: { cutByClientOf?: { id: string } | undefined } = {},
): Promise<boolean> {
  const ended = await context.db.transaction(async (tx) => {
    const done = await endUpload({ ...context, db: tx }, fileId, INTERRUPTED)
    if (done) await giveBackCount(tx, fileId)
    return done
  })
  if (ended && cutByClientOf) await countRefusedCreation(context, cutByClientOf.id)
  return ended
}

/**
 * Undoes a creation whose first bytes were refused. Its client never learns the address, so the upload ends
 * immediately, returns its reservation, and does not count toward the files that the token may create. It leaves no
 * record and sends no event, unless some of its bytes were counted or the bucket may have an object that only the
 * record refers to. If the client caused the refusal, the creation counts against a separate limit.
 */
export async function takeBackUpload(
  context: UploadContext,
  { fileId, destinations }: Pick<Upload, 'fileId' | 'destinations'>,
  refused: { tokenId: string; error: unknown },
): Promise<void> {
  const end = {
    status: 'canceled',
    reason: 'The creation of the upload was refused.',
    from: ['uploading'],
  } as const
  const { effect, blame } = classify(refused.error, 'put')
  const mayBeThere = destinations.some(({ wasPut }) => wasPut) && effect === 'possible'
  const eraseOrEmit = async (tx: Db) => {
    if (mayBeThere || !(await erase(tx, fileId, context.clock.now()))) await context.emitEvents(tx, fileId)
  }
  const takeBack = context.db.transaction(async (tx) => {
    if (!(await endUpload({ ...context, emitEvents: eraseOrEmit, db: tx }, fileId, end))) return
    if (mayBeThere) await clearLater(tx, fileId, context.clock.now())
    await giveBackCount(tx, fileId)
  })
  // If the database cannot be reached, the upload stays until it expires.
  const warn = (error: unknown) =>
    context.log.warn({ err: error, fileId }, 'could not roll back a refused upload creation')
  await takeBack.catch(warn)
  if (blame === 'client') await countRefusedCreation(context, refused.tokenId).catch(warn)
}

/** For an upload whose client may not know its address: makes it expire unless it is continued within `withinMs`. */
export function expireSoon(
  { db, clock }: Pick<UploadContext, 'db' | 'clock'>,
  fileId: string,
  withinMs: number,
): Promise<void> {
  return capExpiry(db, fileId, clock.now() + withinMs)
}

/**
 * Invalidates the address of a finished upload. The object and the record are kept, because the file was delivered.
 * Only the object of a partial upload that was not joined is deleted.
 */
export function retireUpload(
  { db, clock }: Pick<UploadContext, 'db' | 'clock'>,
  fileId: string,
): Promise<void> {
  return retire(db, fileId, clock.now())
}
