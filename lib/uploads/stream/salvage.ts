import { crc32 } from 'node:zlib'
import { advance } from '../ledger/advance.ts'
import type { PartBuffer } from '../memory/part-buffer.ts'
import type { OpenUpload } from '../open-upload.ts'
import type { UploadContext } from '../upload-context.ts'
import type { Parts } from './parts.ts'

/** More than this is not worth writing to the database: the client sends it again. */
const MAX_SALVAGE_BYTES = 16 * 1024 * 1024

/** Keeps a part that could not be sent in the tail. True if the file ends with it. */
export async function salvage(
  context: UploadContext,
  upload: OpenUpload,
  parts: Pick<Parts, 'recorded' | 'oldest'>,
  { mayFinish }: { mayFinish: boolean },
): Promise<boolean> {
  // Parts before the failed one may still be recorded; the failed one is the oldest afterwards.
  await parts.recorded().catch(() => {})
  const { oldest } = parts
  if (!oldest || oldest.buffer.bytes === 0 || oldest.buffer.bytes > MAX_SALVAGE_BYTES) return false
  // If the database failed, too, the part may not begin at the confirmed offset.
  if (oldest.fromBytes !== upload.offsetBytes) return false
  return context.limitTailWrites(() => keepPart(context, upload, oldest.buffer, { mayFinish }))
}

async function keepPart(
  { clock, db, tails }: UploadContext,
  upload: OpenUpload,
  part: PartBuffer,
  { mayFinish }: { mayFinish: boolean },
): Promise<boolean> {
  upload.lease.assertHeld()
  const fromBytes = upload.offsetBytes
  const bytes = part.joined()
  const toBytes = fromBytes + bytes.length
  const last = mayFinish && toBytes === upload.lengthBytes
  const change = {
    fromBytes,
    toBytes,
    crc32: crc32(bytes, upload.crc32),
    tail: tails.sealer(upload.fileId)(fromBytes, bytes),
    bound: upload.numbers.toKeep(),
    ...(last && ({ become: 'transferring', release: { interrupted: false } } as const)),
  }
  await upload.lease.whileHeld(advance(db, upload.lease, change, clock.now()))
  upload.offsetBytes = toBytes
  upload.crc32 = change.crc32
  return last
}
