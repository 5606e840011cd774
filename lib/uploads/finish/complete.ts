import type { Bucket } from '../bucket-port.ts'
import type { Lease } from '../lease/held-lease.ts'
import { readParts } from '../ledger/parts.ts'
import type { UploadContext } from '../upload-context.ts'
import type { Stored } from './record-transferred.ts'
import { type Outcome, settle } from './settle.ts'

/** A file whose bytes are all in parts, ready to become an object. */
type Assembly = {
  fileId: string
  lease: Lease
  destination: { bucket: Bucket; key: string; mayRead: boolean }
  multipartId: string
  bytes: number
  crc32: number
  /** The bucket may have made the object already, in an attempt whose outcome is not known. */
  sentBefore: boolean
}

/**
 * Makes one attempt to make the object from the parts. `complete_sent_at` was committed before this is called, so a
 * crash at any point leaves a `transferring` file to the reconciler.
 */
export function completeUpload(context: UploadContext, assembly: Assembly): Promise<Outcome> {
  const storing = assemble(context, assembly)
  return settle(context, { ...assembly, lengthBytes: assembly.bytes }, 'complete', storing)
}

async function assemble({ db, checkpoint }: UploadContext, assembly: Assembly): Promise<Stored> {
  const { fileId, lease, multipartId, bytes, crc32 } = assembly
  const { bucket, key } = assembly.destination
  const parts = await lease.whileHeld(readParts(db, fileId))
  lease.assertHeld()
  const options = { signal: lease.signal, repeated: assembly.sentBefore }
  const { etag } = await bucket.completeMultipart({ key, multipartId }, { parts, bytes, crc32 }, options)
  checkpoint('complete answered')
  return { delivered: { etag, certainty: 'answered' } }
}
