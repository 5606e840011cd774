import { crc32 } from 'node:zlib'
import { combineCrc32 } from '../../platform/kernel/crc32.ts'
import type { Body } from '../bucket-port.ts'
import { lostLease } from '../ledger/lease-terms.ts'
import { readTail } from '../ledger/read-tail.ts'
import { withMemory } from '../memory/with-memory.ts'
import type { OpenUpload } from '../opening/open-upload.ts'
import type { UploadContext } from '../upload-context.ts'

/** Reads a range of the tail from the database, and holds it in memory, before the body, while `work` runs. */
export function withTail<Result>(
  context: Pick<UploadContext, 'db' | 'budget' | 'tailCipher'>,
  { fileId, lease, bucket }: Pick<OpenUpload, 'fileId' | 'lease' | 'bucket'>,
  tailed: { fromBytes: number; toBytes: number; body: Body; signal: AbortSignal },
  work: (body: Body) => Promise<Result>,
): Promise<Result> {
  const { fromBytes, toBytes, body, signal } = tailed
  const tailBytes = toBytes - fromBytes
  return withMemory(context, bucket, { bytes: tailBytes, signal }, async () => {
    const tail = await lease.whileHeld(readTail(context, fileId, { fromBytes, toBytes }))
    // Another writer has already sent it as a part.
    if (tail.reduce((sum, piece) => sum + piece.length, 0) !== tailBytes) throw lostLease()
    const tailCrc = tail.reduce((crc, piece) => crc32(piece, crc), 0)
    return work({
      chunks: [...tail, ...body.chunks],
      bytes: tailBytes + body.bytes,
      crc32: combineCrc32(tailCrc, body.crc32, body.bytes),
    })
  })
}
