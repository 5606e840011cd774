import { GetObjectTaggingCommand, HeadObjectCommand, S3Client } from '@aws-sdk/client-s3'
import type { TestBucket } from './upload-site.ts'

/** Reads an object as another program would, using the AWS SDK and a separate access key. */
export async function seenObject(bucket: TestBucket, key: string) {
  const s3 = new S3Client({
    endpoint: bucket.endpoint,
    region: bucket.region,
    forcePathStyle: true,
    credentials: { accessKeyId: 'READER', secretAccessKey: 'secret-of-reader' },
  })
  const at = { Bucket: bucket.name, Key: key }
  const head = await s3.send(new HeadObjectCommand(at))
  const { TagSet = [] } = await s3.send(new GetObjectTaggingCommand(at))
  s3.destroy()
  return { ...head, tags: Object.fromEntries(TagSet.map(({ Key, Value }) => [Key, Value])) }
}
