import { crc32 } from 'node:zlib'
import { advance } from '../ledger/advance.ts'
import type { PartBuffer } from '../memory/part-buffer.ts'
import type { OpenUpload } from '../open-upload.ts'
import type { UploadContext } from '../upload-context.ts'
import type { Parts } from './parts.ts'

/** More than this is not worth writing to the database: the client sends it again. */
const MAX_SALVAGE_BYTES = 16 * 1024 * 1024

/** Keeps a part that could not be sent in the tail. True if those were the last bytes. */
export async function salvage(
  context: UploadContext,
  upload: OpenUpload,
  parts: Pick<Parts, 'recorded' | 'oldest'>,
): Promise<boolean> {
  // Parts before the one that failed may still get through; the oldest that is left then is that one.
  await parts.recorded().catch(() => {})
  const { oldest } = parts
  if (!oldest || oldest.buffer.bytes === 0 || oldest.buffer.bytes > MAX_SALVAGE_BYTES) return false
  // Not if the database failed, too: what it begins with is recorded already, or what comes before it is not.
  if (oldest.fromBytes !== upload.offsetBytes) return false
  return context.limitTailWrites(() => keepPart(context, upload, oldest.buffer))
}

async function keepPart(
  { clock, db, tails }: UploadContext,
  upload: OpenUpload,
  part: PartBuffer,
): Promise<boolean> {
  upload.lease.assertHeld()
  const fromBytes = upload.offsetBytes
  const bytes = part.joined()
  const toBytes = fromBytes + bytes.length
  const last = toBytes === upload.lengthBytes
  const change = {
    ...{ fromBytes, toBytes, crc32: crc32(bytes, upload.crc32) },
    tail: tails.sealer(upload.fileId)(fromBytes, bytes),
    bound: upload.numbers.toKeep(),
    ...(last && ({ become: 'transferring', release: { interrupted: false } } as const)),
  }
  await upload.lease.whileHeld(advance(db, upload.lease, change, clock.now()))
  upload.offsetBytes = toBytes
  return last
}
