import { xmlAnswer } from '../answer.ts'
import { type Assembled, describeAssembled } from '../assembled.ts'
import type { Call, Perform } from '../call.ts'
import { declaredCrc32 } from '../checksums.ts'
import { chooseParts, type NamedPart, readNamedParts } from '../choose-parts.ts'
import { requiresAbsence } from '../preconditions.ts'
import { S3Error } from '../s3-error.ts'
import type { Completion, Upload } from '../upload-files.ts'

const MAX_XML_BYTES = 4 * 2 ** 20

export const completeMultipartUpload: Perform = async (call) => {
  const { request, storage } = call
  const named = readNamedParts(await call.body.text(MAX_XML_BYTES))
  const id = request.query.get('uploadId')!
  const { etag, checksum } = await storage.uploads.exclusively(id, async () => {
    const remembered = await storage.uploads.completion(id, request.key)
    if (remembered) return remembered
    const upload = await storage.uploads.find(id, request.key)
    for (const rule of call.rules) rule.assemble?.(named, upload)
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

/** What the client says about the whole object must be so. */
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
    throw new S3Error(
      'InvalidRequest',
      `The parts have ${size} bytes, not the ${bytes} of x-amz-mp-object-size.`,
    )
  }
  const isSame =
    checksum.type === 'COMPOSITE'
      ? [undefined, checksum.value, checksum.value.split('-')[0]].includes(headers['x-amz-checksum-crc32'])
      : [undefined, crc32].includes(declaredCrc32(headers))
  if (!isSame)
    throw new S3Error('BadDigest', 'The CRC32 you specified did not match the calculated checksum.')
}
