import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  PutObjectCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { expectRefusal, PART_BYTES, type Prove, patternBytes } from './ground.ts'
import { OpenUpload } from './multipart-clauses.ts'

const MINUTE_MS = 60_000

export const accessClauses = {
  'refuses a wrong secret': async ({ client, target, under }) => {
    const s3 = client({ credentials: { ...under.keys, secretAccessKey: 'false' } })
    await expectRefusal(
      s3.send(new PutObjectCommand({ ...target(), Body: 'a' })),
      403,
      'SignatureDoesNotMatch',
    )
  },
  'refuses an unknown key id': async ({ client, target, under }) => {
    const s3 = client({ credentials: { ...under.keys, accessKeyId: 'AKIAUNKNOWN' } })
    await expectRefusal(s3.send(new PutObjectCommand({ ...target(), Body: 'a' })), 403, 'InvalidAccessKeyId')
  },
  'refuses unsigned requests': async ({ target, under }) => {
    const { Bucket, Key } = target()
    for (const method of ['GET', 'PUT']) {
      const asking = request(`${under.endpoint}/${Bucket}/${Key}`, { method }).end()
      const [answer] = (await once(asking, 'response')) as [IncomingMessage]
      expect(answer.statusCode).toBe(403)
      expect(await text(answer)).toContain('<Code>AccessDenied</Code>')
    }
  },
  'refuses a clock that is off by more than 15 minutes': async ({ client, target }) => {
    for (const systemClockOffset of [-16 * MINUTE_MS, 16 * MINUTE_MS]) {
      const s3 = client({ systemClockOffset })
      await expectRefusal(
        s3.send(new PutObjectCommand({ ...target(), Body: 'a' })),
        403,
        'RequestTimeTooSkewed',
      )
    }
    const s3 = client({ systemClockOffset: -14 * MINUTE_MS })
    await s3.send(new PutObjectCommand({ ...target(), Body: 'a' }))
  },
  'names its region if a request is signed for a different one': async ({ client, target, under }) => {
    const s3 = client({ region: 'mars-north-1' })
    const sending = s3.send(new PutObjectCommand({ ...target(), Body: 'a' }))
    await expectRefusal(sending, 400, 'AuthorizationHeaderMalformed')
    await expect(sending).rejects.toMatchObject({ Region: under.region })
  },
  'returns NoSuchBucket for a missing bucket': async ({ s3, target }) => {
    const command = new PutObjectCommand({ ...target(), Bucket: 'no-such-bucket-here', Body: 'a' })
    await expectRefusal(s3.send(command), 404, 'NoSuchBucket')
  },
  'confirms that the bucket exists': async ({ s3, under }) => {
    await s3.send(new HeadBucketCommand({ Bucket: under.bucket }))
  },
  'lets a put-only key make single and multipart uploads': async ({ putOnly, s3, target }) => {
    const whole = target()
    await putOnly.send(new PutObjectCommand({ ...whole, Body: 'a', IfNoneMatch: '*' }))
    const upload = await OpenUpload.begin(putOnly, target())
    const parts = [await upload.send(1, patternBytes(PART_BYTES)), await upload.send(2, patternBytes(10))]
    await upload.complete(parts)
    const { Bucket, Key } = upload.target
    for (const address of [whole, { Bucket, Key }]) await s3.send(new HeadObjectCommand(address))
  },
  'lets a put-only key do nothing else': async ({ putOnly, target }) => {
    const address = target()
    const { Bucket } = address
    await putOnly.send(new PutObjectCommand({ ...address, Body: 'a' }))
    const { target: upload } = await OpenUpload.begin(putOnly, target())
    const copy = { ...upload, PartNumber: 1, CopySource: `${Bucket}/${address.Key}` }
    for (const refused of [
      () => putOnly.send(new GetObjectCommand(address)),
      () => putOnly.send(new DeleteObjectCommand(address)),
      () => putOnly.send(new ListObjectsV2Command({ Bucket })),
      () => putOnly.send(new AbortMultipartUploadCommand(upload)),
      () => putOnly.send(new ListPartsCommand(upload)),
      () => putOnly.send(new ListMultipartUploadsCommand({ Bucket })),
      () => putOnly.send(new UploadPartCopyCommand(copy)),
    ]) {
      await expectRefusal(refused(), 403, 'AccessDenied')
    }
    // The response to HEAD has no body, so it contains no error code.
    for (const refused of [
      () => putOnly.send(new HeadObjectCommand(address)),
      () => putOnly.send(new HeadBucketCommand({ Bucket })),
    ]) {
      await expect(refused()).rejects.toMatchObject({ $metadata: { httpStatusCode: 403 } })
    }
  },
} satisfies Record<string, Prove>
