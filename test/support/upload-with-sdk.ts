import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import {
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'

/**
 * Uploads a file with the unmodified AWS SDK, as any other program would: once in a single request and once in parts.
 */
const { endpoint, region, bucket, file, credentials } = JSON.parse(process.argv[2]!)
const PART_BYTES = 8 * 2 ** 20
const s3 = new S3Client({ endpoint, region, credentials, forcePathStyle: true })
const { size } = await stat(file)

await s3.send(
  new PutObjectCommand({ Bucket: bucket, Key: 'whole', Body: createReadStream(file), ContentLength: size }),
)

const target = { Bucket: bucket, Key: 'in/parts' }
const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ ...target, ContentType: 'video/mp4' }))
const Parts: CompletedPart[] = []
for (let start = 0; start < size; start += PART_BYTES) {
  const end = Math.min(start + PART_BYTES, size)
  const Body = createReadStream(file, { start, end: end - 1 })
  const PartNumber = Parts.length + 1
  const part = { ...target, UploadId, PartNumber, Body, ContentLength: end - start }
  const { ETag } = await s3.send(new UploadPartCommand(part))
  Parts.push({ PartNumber, ETag })
}
await s3.send(new CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: { Parts } }))
