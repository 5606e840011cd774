import { crc32ToBase64 } from '../../../lib/platform/kernel/crc32.ts'
import { xmlAnswer } from '../answer.ts'
import type { Call, Perform } from '../call.ts'
import { Meter } from '../checksums.ts'
import { readCopySource } from '../copy-source.ts'
import { missingKey } from '../missing-key.ts'
import type { OpenObject } from '../object-files.ts'
import { partNumberOf } from '../part-number.ts'
import { S3Error } from '../s3-error.ts'

const MAX_PART_BYTES = 5 * 2 ** 30

export const uploadPartCopy: Perform = async (call) => {
  const { request, storage, clock } = call
  const number = partNumberOf(request)
  const upload = await storage.uploads.find(request.query.get('uploadId')!, request.key)
  const source = await openSource(call)
  const meter = new Meter({ md5: true, sha256: false })
  try {
    const { first, last } = readCopyRange(request.headers['x-amz-copy-source-range'], source.metadata.size)
    const bytes = source.file.createReadStream({ start: first, end: Math.max(first, last), autoClose: false })
    const staged = await storage.staging.write(meter.pass(bytes))
    const measured = meter.result()
    await storage.uploads.addPart(upload.id, number, staged, measured)
    return xmlAnswer([
      'CopyPartResult',
      [
        ['LastModified', new Date(clock.now()).toISOString()],
        ['ETag', `"${measured.md5}"`],
        ['ChecksumCRC32', crc32ToBase64(measured.crc32)],
      ],
    ])
  } finally {
    await source.file.close()
  }
}

/** The source needs a permission of its own: who may put may not therefore read. */
async function openSource(call: Call): Promise<OpenObject> {
  if (!call.permits('s3:GetObject')) throw new S3Error('AccessDenied')
  const { bucket, key } = readCopySource(call.request.headers['x-amz-copy-source']!)
  const source = await call.storageOf(bucket).objects.open(key)
  if (!source) throw missingKey(call)
  return source
}

function readCopyRange(header: string | undefined, size: number): { first: number; last: number } {
  const range = header === undefined ? { first: 0, last: size - 1 } : parseRange(header)
  if (range.last >= size) {
    throw new S3Error('InvalidArgument', `Range specified is not valid for source object of size: ${size}`)
  }
  if (range.last - range.first >= MAX_PART_BYTES) throw new S3Error('EntityTooLarge')
  return range
}

function parseRange(header: string): { first: number; last: number } {
  const [, first, last] = /^bytes=(\d{1,16})-(\d{1,16})$/.exec(header) ?? []
  if (first === undefined || Number(last) < Number(first)) {
    throw new S3Error(
      'InvalidArgument',
      'The x-amz-copy-source-range value must be of the form bytes=first-last',
    )
  }
  return { first: Number(first), last: Number(last) }
}
