import { crc32ToBase64 } from '../../../lib/platform/kernel/crc32.ts'
import { emptyAnswer, xmlAnswer } from '../answer.ts'
import { type Call, missingKey, type Perform } from '../call.ts'
import { declaredCrc32, Meter } from '../checksums.ts'
import {
  type Assembled,
  chooseParts,
  describeAssembled,
  type NamedPart,
  readNamedParts,
} from '../choose-parts.ts'
import type { OpenObject } from '../object-files.ts'
import { type ChecksumType, encryptionHeaders, headersToKeep } from '../object-metadata.ts'
import { partNumberOf, readCopySource, requiresAbsence } from '../request.ts'
import { S3Error } from '../s3-error.ts'
import type { Completion, Upload } from '../upload-files.ts'

export const createMultipartUpload: Perform = async ({ request, storage }) => {
  const { bucket, key } = request
  const checksumType = readChecksumType(request.headers)
  await storage.objects.requireRoom(key)
  const headers = headersToKeep(request.headers)
  const upload = await storage.uploads.create({ key, headers, checksumType })
  return xmlAnswer(
    [
      'InitiateMultipartUploadResult',
      [
        ['Bucket', bucket],
        ['Key', key],
        ['UploadId', upload.id],
      ],
    ],
    {
      ...encryptionHeaders(headers),
      ...(checksumType && { 'x-amz-checksum-algorithm': 'CRC32', 'x-amz-checksum-type': checksumType }),
    },
  )
}

/** With CRC32 and no type, S3 uses the checksum of the parts' checksums. */
function readChecksumType(headers: Record<string, string>): ChecksumType | undefined {
  const algorithm = headers['x-amz-checksum-algorithm']
  const type = headers['x-amz-checksum-type']
  if (algorithm === undefined) {
    if (type === undefined) return undefined
    throw new S3Error('InvalidRequest', 'The x-amz-checksum-type header needs x-amz-checksum-algorithm.')
  }
  if (algorithm !== 'CRC32')
    throw new S3Error('NotImplemented', 'This bucket verifies CRC32 and no other algorithm.')
  if (type === undefined || type === 'COMPOSITE') return 'COMPOSITE'
  if (type === 'FULL_OBJECT') return type
  throw new S3Error('InvalidRequest', 'Value for x-amz-checksum-type header is invalid.')
}

export const uploadPart: Perform = async ({ request, body, storage }) => {
  const number = partNumberOf(request)
  const upload = await storage.uploads.find(request.query.get('uploadId')!, request.key)
  const staged = await storage.staging.write(body.bytes())
  if (upload.checksumType && body.declaredCrc32 === undefined) {
    await storage.staging.discard(staged)
    const message =
      'Checksum Type mismatch occurred, expected checksum Type: crc32, actual checksum Type: null'
    throw new S3Error('InvalidRequest', message)
  }
  await storage.uploads.addPart(upload.id, number, staged, body.measured)
  const { md5, crc32 } = body.measured
  return emptyAnswer(200, {
    etag: `"${md5}"`,
    'x-amz-checksum-crc32': crc32ToBase64(crc32),
    ...encryptionHeaders(upload.headers),
  })
}

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

/** Reading the source needs a separate permission, which the permission to put does not include. */
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

const MAX_XML_BYTES = 4 * 2 ** 20

export const completeMultipartUpload: Perform = async (call) => {
  const { request, storage } = call
  const named = readNamedParts(await call.body.text(MAX_XML_BYTES))
  const id = request.query.get('uploadId')!
  const { etag, checksum } = await storage.uploads.exclusively(id, async () => {
    const remembered = await storage.uploads.completion(id, request.key)
    if (remembered) return remembered
    const upload = await storage.uploads.find(id, request.key)
    call.interceptor?.assemble(named, upload)
    return complete(call, upload, named)
  })
  return xmlAnswer([
    'CompleteMultipartUploadResult',
    [
      ['Location', `http://${request.headers.host}/${request.bucket}/${encodeURI(request.key)}`],
      ['Bucket', request.bucket],
      ['Key', request.key],
      ['ETag', etag],
      ['ChecksumCRC32', checksum.value],
      ['ChecksumType', checksum.type],
    ],
  ])
}

async function complete(
  { request, storage }: Call,
  { id, key, headers, checksumType }: Upload,
  named: NamedPart[],
): Promise<Pick<Completion, 'etag' | 'checksum'>> {
  const ifAbsent = requiresAbsence(request.headers)
  const parts = chooseParts(named, await storage.uploads.parts(id), checksumType)
  const { size, ...assembled } = describeAssembled(parts, checksumType ?? 'FULL_OBJECT')
  requireDeclared(request.headers, { size, ...assembled })
  if (ifAbsent && (await storage.objects.find(key))) throw new S3Error('PreconditionFailed')
  const staged = await storage.staging.concatenate(parts)
  await storage.uploads.prepareCompletion(id, { key, ...assembled })
  await storage.objects.publish(staged, { key, headers, ...assembled }, { ifAbsent })
  await storage.uploads.close(id)
  return assembled
}

/** Everything that the client declares about the entire object must be true. */
function requireDeclared(headers: Record<string, string>, { size, crc32, checksum }: Assembled): void {
  const type = headers['x-amz-checksum-type']
  if (type !== undefined && type !== checksum.type) {
    throw new S3Error(
      'InvalidRequest',
      `The upload was created with the checksum type ${checksum.type}, not ${type}.`,
    )
  }
  const bytes = headers['x-amz-mp-object-size']
  if (bytes !== undefined && bytes !== String(size)) {
    throw new S3Error('InvalidRequest', `The parts have ${size} bytes, but x-amz-mp-object-size is ${bytes}.`)
  }
  const isSame =
    checksum.type === 'COMPOSITE'
      ? [undefined, checksum.value, checksum.value.split('-')[0]].includes(headers['x-amz-checksum-crc32'])
      : [undefined, crc32].includes(declaredCrc32(headers))
  if (!isSame)
    throw new S3Error('BadDigest', 'The CRC32 you specified did not match the calculated checksum.')
}

export const abortMultipartUpload: Perform = async ({ request, storage }) => {
  const { id } = await storage.uploads.find(request.query.get('uploadId')!, request.key)
  await storage.uploads.abort(id)
  return emptyAnswer(204)
}
