import { type Bucket, bucketFault } from './bucket-port.ts'
import type { Lease } from './lease/held-lease.ts'
import type { Delivered } from './ledger/advance.ts'
import { readParts } from './ledger/read-parts.ts'
import { settle } from './settle.ts'
import type { UploadContext } from './upload-context.ts'

/** A file all of whose bytes are in parts, and that is to become an object. */
export type Assembly = {
  fileId: string
  lease: Lease
  bucket: Bucket
  key: string
  multipartId: string
  bytes: number
  crc32: number
  /** CompleteMultipartUpload was sent before, perhaps by a process that is dead. */
  sentBefore: boolean
  mayRead: boolean
}

/**
 * Makes the object of the parts, once. `complete_sent_at` was committed before this is called, so a crash anywhere in here
 * leaves a file in `transferring`, which the reconciler takes up. False: it is not there.
 */
export function completeUpload(context: UploadContext, assembly: Assembly): Promise<boolean> {
  return settle(context, { ...assembly, lengthBytes: assembly.bytes }, 'complete', async () => {
    const delivered = await assemble(context, assembly)
    context.checkpoint('complete answered')
    return { delivered }
  })
}

async function assemble({ db }: UploadContext, assembly: Assembly): Promise<Delivered> {
  const { lease, bucket, key, multipartId, bytes, crc32 } = assembly
  const parts = await lease.whileHeld(readParts(db, assembly.fileId))
  lease.assertHeld()
  try {
    const object = { parts, bytes, crc32 }
    const options = { signal: lease.signal, repeated: assembly.sentBefore }
    const { etag } = await bucket.completeMultipart({ key, multipartId }, object, options)
    return { etag, certainty: 'answered' }
  } catch (error) {
    const kind = bucketFault(error)
    if ((kind !== 'no_such_upload' && kind !== 'exists') || !mayHaveHappened(assembly, error)) throw error
    return lookUp(assembly)
  }
}

/**
 * An unknown upload, or an object that is there already, means that Complete happened, if it was ever sent; else the bucket
 * has dropped the upload.
 */
function mayHaveHappened({ sentBefore }: Assembly, error: unknown): boolean {
  return sentBefore || ((error as { attempts?: number }).attempts ?? 1) > 1
}

async function lookUp({ bucket, key, bytes, mayRead, lease }: Assembly): Promise<Delivered> {
  if (!mayRead) return { etag: null, certainty: 'inferred' }
  const object = await bucket.headObject(key, { signal: lease.signal })
  if (object?.bytes === bytes) return { etag: object.etag, certainty: 'confirmed' }
  throw new Error('the bucket knows neither the multipart upload nor the object')
}
