import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  BUCKET,
  type BucketInTest,
  disposeLocalBucket,
  openLocalBucket,
} from '../../test/support/local-bucket.ts'

/**
 * Simulates a process that dies before the n-th change to the file system, for every possible n: that change and all
 * later ones do not happen. Another process then starts with what is on the disk.
 */
const disk = vi.hoisted(() => ({ stepsLeft: Number.POSITIVE_INFINITY, died: false }))

vi.mock('node:fs/promises', async (importOriginal) => {
  const real = await importOriginal<typeof import('node:fs/promises')>()
  const changes = ['link', 'mkdir', 'open', 'rename', 'rm', 'rmdir', 'writeFile'] as const
  const mortal = changes.map((name) => {
    const change = real[name] as (...args: unknown[]) => Promise<unknown>
    const attempt = async (...args: unknown[]) => {
      if (name === 'open' && args[1] === 'r') return change(...args)
      disk.stepsLeft -= 1
      disk.died ||= disk.stepsLeft < 0
      if (disk.died) throw new Error('the process has died')
      return change(...args)
    }
    return [name, attempt] as const
  })
  return { ...real, ...Object.fromEntries(mortal) }
})

const MAX_STEPS = 60

/** Crashes at each step of `work` in turn, restarts, and checks. Ends when `work` completes without a crash. */
async function atEachStep<Begun>(
  begin: (bucket: BucketInTest) => Promise<Begun>,
  work: (bucket: BucketInTest, begun: Begun) => Promise<unknown>,
  look: (bucket: BucketInTest, begun: Begun, finished: boolean) => Promise<void>,
): Promise<number> {
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    const bucket = await openLocalBucket()
    const begun = await begin(bucket)
    disk.stepsLeft = steps
    const finished = await work(bucket, begun).then(
      () => true,
      () => false,
    )
    const { died } = disk
    disk.died = false
    disk.stepsLeft = Number.POSITIVE_INFINITY
    const restarted = await bucket.restart()
    await look(restarted, begun, finished)
    await disposeLocalBucket(restarted)
    if (!died) return steps
  }
  return expect.fail(`not done after ${MAX_STEPS} steps`)
}

afterEach(() => {
  disk.died = false
  disk.stepsLeft = Number.POSITIVE_INFINITY
})

const Key = 'films/a film.mp4'
const target = { Bucket: BUCKET, Key }
const old = { Body: 'the old one', ContentType: 'text/old', Metadata: { is: 'old' } }
const fresh = { Body: 'the new one, longer', ContentType: 'text/new', Metadata: { is: 'new' } }

/** Reads the object from its file and through S3, which must agree. */
async function objectIn({
  s3,
  directory,
}: BucketInTest): Promise<
  { Body: string; ContentType?: string; Metadata?: Record<string, string> } | undefined
> {
  const head = await s3.send(new HeadObjectCommand(target)).catch(() => undefined)
  const Body = await readFile(join(directory, BUCKET, Key), 'utf8').catch(() => undefined)
  if (!head || Body === undefined) {
    expect([head, Body]).toEqual([undefined, undefined])
    return undefined
  }
  return {
    Body,
    ContentType: head.ContentType,
    Metadata: head.Metadata,
  }
}

async function expectNoLitter({ directory }: BucketInTest): Promise<void> {
  expect(await readdir(join(directory, '.sluice/staging'))).toEqual([])
}

describe('after a crash at any step', () => {
  it('the first PutObject has stored the object or nothing', async () => {
    const steps = await atEachStep(
      async () => {},
      (bucket) => bucket.s3.send(new PutObjectCommand({ ...target, ...fresh })),
      async (bucket, _, finished) => {
        const object = await objectIn(bucket)
        if (finished || object) expect(object).toEqual(fresh)
        await expectNoLitter(bucket)
      },
    )
    expect(steps).toBeGreaterThan(4)
  })

  it('an overwriting PutObject has left the old or the new object, with its own metadata', async () => {
    await atEachStep(
      (bucket) => bucket.s3.send(new PutObjectCommand({ ...target, ...old })),
      (bucket) => bucket.s3.send(new PutObjectCommand({ ...target, ...fresh })),
      async (bucket, _, finished) => {
        const object = await objectIn(bucket)
        if (finished) expect(object).toEqual(fresh)
        else expect([old, fresh]).toContainEqual(object)
        await expectNoLitter(bucket)
      },
    )
  })

  it('a PutObject with If-None-Match has stored the object or nothing', async () => {
    await atEachStep(
      async () => {},
      (bucket) => bucket.s3.send(new PutObjectCommand({ ...target, ...fresh, IfNoneMatch: '*' })),
      async (bucket, _, finished) => {
        const object = await objectIn(bucket)
        if (finished || object) expect(object).toEqual(fresh)
        await expectNoLitter(bucket)
      },
    )
  })

  it('a DeleteObject has left the object or nothing', async () => {
    await atEachStep(
      (bucket) => bucket.s3.send(new PutObjectCommand({ ...target, ...old })),
      (bucket) => bucket.s3.send(new DeleteObjectCommand(target)),
      async (bucket, _, finished) => {
        const object = await objectIn(bucket)
        if (finished) expect(object).toBeUndefined()
        if (object) expect(object.Body).toBe(old.Body)
      },
    )
  })

  it('an UploadPart has left an upload that can continue', async () => {
    await atEachStep(
      async ({ s3 }) => {
        const { UploadId } = await s3.send(new CreateMultipartUploadCommand(target))
        await s3.send(new UploadPartCommand({ ...target, UploadId, PartNumber: 1, Body: 'an older sending' }))
        return { ...target, UploadId }
      },
      ({ s3 }, upload) => s3.send(new UploadPartCommand({ ...upload, PartNumber: 1, Body: fresh.Body })),
      async ({ s3 }, upload) => {
        const { ETag } = await s3.send(new UploadPartCommand({ ...upload, PartNumber: 1, Body: fresh.Body }))
        const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] }
        await s3.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload }))
      },
    )
  })

  it('a CompleteMultipartUpload has left the object or the upload, and can be repeated', async () => {
    const { Body, ...described } = fresh
    const etags = new Set<string | undefined>()
    const steps = await atEachStep(
      async ({ s3 }) => {
        const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ ...target, ...described }))
        const { ETag } = await s3.send(new UploadPartCommand({ ...target, UploadId, PartNumber: 1, Body }))
        return { ...target, UploadId, MultipartUpload: { Parts: [{ PartNumber: 1, ETag }] } }
      },
      ({ s3 }, upload) => s3.send(new CompleteMultipartUploadCommand(upload)),
      async (bucket, upload, finished) => {
        const object = await objectIn(bucket)
        if (finished || object) expect(object).toEqual(fresh)
        const { ETag } = await bucket.s3.send(new CompleteMultipartUploadCommand(upload))
        etags.add(ETag)
        expect(await objectIn(bucket)).toEqual(fresh)
        const { Uploads } = await bucket.s3.send(new ListMultipartUploadsCommand({ Bucket: BUCKET }))
        expect(Uploads).toBeUndefined()
        await expectNoLitter(bucket)
        const [completed] = await readdir(join(bucket.directory, '.sluice/uploads/demo/completed'))
        const kept = await readdir(join(bucket.directory, '.sluice/uploads/demo/completed', completed!))
        expect(kept.sort()).toEqual(['completion.json', 'upload.json'])
      },
    )
    expect(etags.size).toBe(1)
    expect(steps).toBeGreaterThan(8)
  })
})
