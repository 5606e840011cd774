import { countRefusedCreation } from '../../workspace/tokens/refused-creations.ts'
import { lacksBytes } from '../ledger/interrupted-uploads.ts'
import { giveBackCount } from '../ledger/take-back.ts'
import type { UploadContext } from '../upload-context.ts'
import { endUpload } from './end-upload.ts'

const END = { status: 'failed', reason: 'interrupted', from: ['uploading'], provided: lacksBytes } as const

/**
 * Fails an upload whose only request was cut and which nobody can continue. It does not count as one of the files that
 * the token may create, so the client can send it again; but if the client cut the request, that counts against a
 * separate limit. False if it had ended already.
 */
export async function failInterrupted(
  context: Pick<UploadContext, 'db' | 'clock' | 'emitEvents' | 'metrics'>,
  fileId: string,
  { cutByClientOf }: { cutByClientOf?: { id: string } | undefined } = {},
): Promise<boolean> {
  const ended = await context.db.transaction(async (tx) => {
    const done = await endUpload({ ...context, db: tx }, fileId, END)
    if (done) await giveBackCount(tx, fileId)
    return done
  })
  if (ended && cutByClientOf) await countRefusedCreation(context, cutByClientOf.id)
  return ended
}
