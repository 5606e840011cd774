import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  BUCKET,
  type BucketInTest,
  disposeLocalBucket,
  openLocalBucket,
} from '../../test/support/local-bucket.ts'

const PART_BYTES = 5 * 2 ** 20
const target = { Bucket: BUCKET, Key: 'film' }
let bucket: BucketInTest
let upload: typeof target & { UploadId: string }

beforeEach(async () => {
  bucket = await openLocalBucket()
  const { UploadId } = await bucket.s3.send(new CreateMultipartUploadCommand(target))
  upload = { ...target, UploadId: UploadId! }
})
afterEach(async () => {
  await disposeLocalBucket(bucket)
})

async function sendPart(PartNumber: number, Body: Buffer): Promise<CompletedPart> {
  const { ETag } = await bucket.s3.send(new UploadPartCommand({ ...upload, PartNumber, Body }))
  return { PartNumber, ETag }
}
const complete = (Parts: CompletedPart[]) =>
  bucket.s3.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }))
const hidden = (folder: string) => readdir(join(bucket.directory, '.sluice', folder), { recursive: true })

/** A part that has started to arrive and continues when the gate opens. */
async function partUnderWay(PartNumber: number): Promise<{ sending: Promise<unknown>; arrive(): void }> {
  bucket.faults.add({
    operation: 'UploadPart',
    partNumber: PartNumber,
    at: 'body',
    effect: { kind: 'hold', gate: 'part' },
  })
  const sending = sendPart(PartNumber, Buffer.alloc(PART_BYTES)).catch((error) => error.name)
  await bucket.traffic.until({ operation: 'UploadPart', partNumber: PartNumber })
  return { sending, arrive: () => bucket.faults.release('part') }
}

describe('a part that arrives too late', () => {
  it('is refused after its upload was aborted, and leaves nothing behind', async () => {
    const { sending, arrive } = await partUnderWay(1)
    await bucket.s3.send(new AbortMultipartUploadCommand(upload))
    arrive()
    expect(await sending).toBe('NoSuchUpload')
    expect(await hidden('staging')).toEqual([])
    expect(await hidden(`uploads/${BUCKET}/open`)).toEqual([])
  })

  it('is refused after its upload was completed, and changes nothing', async () => {
    const part = await sendPart(1, Buffer.from('whole'))
    const { sending, arrive } = await partUnderWay(2)
    await complete([part])
    arrive()
    expect(await sending).toBe('NoSuchUpload')
    expect(await readFile(join(bucket.directory, BUCKET, 'film'), 'utf8')).toBe('whole')
    expect(await hidden('staging')).toEqual([])
  })
})

describe('simultaneous requests', () => {
  it('that complete an upload all get the same response', async () => {
    const parts = [await sendPart(1, Buffer.alloc(PART_BYTES)), await sendPart(2, Buffer.from('end'))]
    const answers = await Promise.all([complete(parts), complete(parts), complete(parts)])
    expect(new Set(answers.map(({ ETag }) => ETag)).size).toBe(1)
  })

  it('store the same part once, completely', async () => {
    const bodies = Array.from({ length: 6 }, (_, n) => Buffer.from(`sending ${n}`))
    const sent = await Promise.all(bodies.map((body) => sendPart(1, body)))
    const kept = (await hidden(`uploads/${BUCKET}/open/${upload.UploadId}`)).filter((name) =>
      name.startsWith('part-'),
    )
    expect(kept).toHaveLength(1)
    const completions = await Promise.allSettled(sent.map((part) => complete([part])))
    expect(completions.some(({ status }) => status === 'fulfilled')).toBe(true)
    expect(bodies.map(String)).toContain(await readFile(join(bucket.directory, BUCKET, 'film'), 'utf8'))
  })
})
