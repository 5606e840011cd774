import { attemptsOf, type Bucket, bucketFault } from '../bucket-port.ts'
import type { Lease } from '../lease/held-lease.ts'
import { readParts } from '../ledger/parts.ts'
import type { UploadContext } from '../upload-context.ts'
import type { Stored } from './record-transferred.ts'
import { settle } from './settle.ts'

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
 * crash at any point leaves a `transferring` file to the reconciler. False if there is no object yet.
 */
export function completeUpload(context: UploadContext, assembly: Assembly): Promise<boolean> {
  const storing = assemble(context, assembly)
  return settle(context, { ...assembly, lengthBytes: assembly.bytes }, 'complete', storing)
}

async function assemble({ db, checkpoint }: UploadContext, assembly: Assembly): Promise<Stored> {
  const { fileId, lease, multipartId, bytes, crc32 } = assembly
  const { bucket, key, mayRead } = assembly.destination
  const parts = await lease.whileHeld(readParts(db, fileId))
  lease.assertHeld()
  try {
    const object = { parts, bytes, crc32 }
    const options = { signal: lease.signal, repeated: assembly.sentBefore }
    const { etag } = await bucket.completeMultipart({ key, multipartId }, object, options)
    checkpoint('complete answered')
    return { delivered: { etag, certainty: 'answered' } }
  } catch (error) {
    const kind = bucketFault(error)
    if ((kind !== 'no_such_upload' && kind !== 'exists') || !mayHaveHappened(assembly, error)) throw error
    if (!mayRead) return { delivered: { etag: null, certainty: 'inferred' } }
    // A lookup that fails leaves the outcome of Complete as unknown as it was.
    const object = await bucket.headObject(key, { signal: lease.signal }).catch(() => undefined)
    if (object?.bytes !== bytes) throw error
    return { delivered: { etag: object.etag, certainty: 'confirmed' } }
  }
}

/**
 * With `no_such_upload` or `exists`, Complete may have succeeded if it was ever sent before. If it was not, the bucket
 * has dropped the upload.
 */
function mayHaveHappened({ sentBefore }: Assembly, error: unknown): boolean {
  return sentBefore || attemptsOf(error) > 1
}
