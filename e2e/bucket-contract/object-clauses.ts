import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { expectRefusal, type Ground, type Prove, patternBytes } from './ground.ts'

type Target = { Bucket: string; Key: string }

async function bytesAt({ s3 }: Ground, target: Target, Range?: string): Promise<Buffer> {
  const { Body } = await s3.send(new GetObjectCommand({ ...target, Range }))
  return Buffer.from(await Body!.transformToByteArray())
}

export const objectClauses = {
  'returns bytes, type and metadata, and the MD5 as ETag': async (ground) => {
    const target = ground.target()
    const Body = patternBytes(100_000)
    const described = {
      ContentType: 'image/png',
      CacheControl: 'no-store',
      ContentDisposition: 'attachment; filename="a.png"',
      Metadata: { origin: 'camera' },
    }
    const put = await ground.s3.send(new PutObjectCommand({ ...target, Body, ...described }))
    expect(put.ETag).toBe(`"${createHash('md5').update(Body).digest('hex')}"`)
    const head = await ground.s3.send(new HeadObjectCommand(target))
    expect(head).toMatchObject({ ...described, ContentLength: Body.length, ETag: put.ETag })
    expect((await bytesAt(ground, target)).equals(Body)).toBe(true)
  },
  'accepts a stream of known length': async (ground) => {
    const target = ground.target()
    const bytes = patternBytes(3 * 2 ** 20 + 17)
    const chunks = Array.from({ length: 50 }, (_, n) => bytes.subarray(n * 70_000, (n + 1) * 70_000))
    await ground.s3.send(
      new PutObjectCommand({ ...target, Body: Readable.from(chunks), ContentLength: bytes.length }),
    )
    expect((await bytesAt(ground, target)).equals(bytes)).toBe(true)
    const head = await ground.s3.send(new HeadObjectCommand(target))
    expect(head.ContentEncoding).toBeUndefined()
  },
  'accepts an empty object': async (ground) => {
    const target = ground.target()
    await ground.s3.send(new PutObjectCommand({ ...target, Body: '' }))
    expect(await bytesAt(ground, target)).toHaveLength(0)
  },
  'replaces the old object with the new one': async (ground) => {
    const target = ground.target()
    await ground.s3.send(new PutObjectCommand({ ...target, Body: 'the first', ContentType: 'text/plain' }))
    await ground.s3.send(new PutObjectCommand({ ...target, Body: 'second', ContentType: 'text/html' }))
    expect(String(await bytesAt(ground, target))).toBe('second')
    expect(await ground.s3.send(new HeadObjectCommand(target))).toMatchObject({ ContentType: 'text/html' })
  },
  'returns ranges': async (ground) => {
    const target = ground.target()
    await ground.s3.send(new PutObjectCommand({ ...target, Body: '0123456789' }))
    expect(String(await bytesAt(ground, target, 'bytes=2-4'))).toBe('234')
    expect(String(await bytesAt(ground, target, 'bytes=7-'))).toBe('789')
    expect(String(await bytesAt(ground, target, 'bytes=-1'))).toBe('9')
    expect(String(await bytesAt(ground, target, 'bytes=8-99'))).toBe('89')
    const answer = await ground.s3.send(new GetObjectCommand({ ...target, Range: 'bytes=2-4' }))
    expect(answer).toMatchObject({ ContentRange: 'bytes 2-4/10', ContentLength: 3 })
    await answer.Body!.transformToByteArray()
  },
  'refuses a range past the end': async (ground) => {
    const target = ground.target()
    await ground.s3.send(new PutObjectCommand({ ...target, Body: '0123456789' }))
    await expectRefusal(bytesAt(ground, target, 'bytes=10-'), 416, 'InvalidRange')
  },
  'returns NoSuchKey for a missing object': async (ground) => {
    const target = ground.target()
    await expectRefusal(ground.s3.send(new GetObjectCommand(target)), 404, 'NoSuchKey')
    await expectRefusal(ground.s3.send(new HeadObjectCommand(target)), 404, 'NotFound')
  },
  'deletes an object, and accepts a repeated deletion': async (ground) => {
    const target = ground.target()
    await ground.s3.send(new PutObjectCommand({ ...target, Body: 'a' }))
    await ground.s3.send(new DeleteObjectCommand(target))
    await expectRefusal(ground.s3.send(new GetObjectCommand(target)), 404, 'NoSuchKey')
    await ground.s3.send(new DeleteObjectCommand(target))
  },
  'deletes several objects at once': async (ground) => {
    const targets = ['a & b', 'c', 'not there'].map((name) => ground.target(name))
    for (const target of targets.slice(0, 2))
      await ground.s3.send(new PutObjectCommand({ ...target, Body: 'a' }))
    const Objects = targets.map(({ Key }) => ({ Key }))
    const { Deleted, Errors } = await ground.s3.send(
      new DeleteObjectsCommand({ Bucket: ground.under.bucket, Delete: { Objects } }),
    )
    expect({ Deleted, Errors }).toEqual({ Deleted: Objects, Errors: undefined })
    for (const target of targets) {
      await expectRefusal(ground.s3.send(new GetObjectCommand(target)), 404, 'NoSuchKey')
    }
  },
  'never overwrites with If-None-Match: *': async (ground) => {
    const target = ground.target()
    const put = (Body: string) => ground.s3.send(new PutObjectCommand({ ...target, Body, IfNoneMatch: '*' }))
    await put('first')
    await expectRefusal(put('second'), 412, 'PreconditionFailed')
    expect(String(await bytesAt(ground, target))).toBe('first')
  },
  'lets only one of many writers succeed with If-None-Match: *': async (ground) => {
    const target = ground.target()
    const bodies = Array.from({ length: 8 }, (_, n) => `writer ${n}`)
    const puts = bodies.map((Body) =>
      ground.s3.send(new PutObjectCommand({ ...target, Body, IfNoneMatch: '*' })),
    )
    const winners = (await Promise.allSettled(puts)).flatMap(({ status }, n) =>
      status === 'fulfilled' ? [n] : [],
    )
    expect(winners).toHaveLength(1)
    expect(String(await bytesAt(ground, target))).toBe(bodies[winners[0]!])
  },
  'distinguishes keys that look alike': async (ground) => {
    const names = [
      'ä ö ü.txt',
      '100%.txt',
      '100%25.txt',
      'a+b',
      'a b',
      "it's (1) & [2] {3} ^~`.txt",
      '日本語/ファイル',
      'a=b;c,d:e@f$g!h*i?j#k',
    ]
    const targets = names.map((name) => ground.target(name))
    for (const target of targets) await ground.s3.send(new PutObjectCommand({ ...target, Body: target.Key }))
    for (const target of targets) expect(String(await bytesAt(ground, target))).toBe(target.Key)
  },
  'keeps keys with empty and dotted segments as they are': async (ground) => {
    const { Bucket, Key } = ground.target('a')
    const keys = [`${Key}//b`, `${Key}/b/`, `${Key}/.../b`, `${Key}/.b`]
    for (const key of keys) await ground.s3.send(new PutObjectCommand({ Bucket, Key: key, Body: key }))
    for (const key of keys) expect(String(await bytesAt(ground, { Bucket, Key: key }))).toBe(key)
  },
  'keeps an object next to others whose keys start with its key': async (ground) => {
    const { Bucket, Key } = ground.target('a')
    const keys = [Key, `${Key}/b`]
    for (const key of keys) await ground.s3.send(new PutObjectCommand({ Bucket, Key: key, Body: key }))
    for (const key of keys) expect(String(await bytesAt(ground, { Bucket, Key: key }))).toBe(key)
  },
  'accepts a name of 255 bytes and a key of 1024': async (ground) => {
    const { Bucket, Key } = ground.target('')
    const [name, rest] = [`x${'ü'.repeat(127)}`, 1024 - Key.length]
    for (const key of [Key + name, Key + 'ä'.repeat(rest >> 1).padEnd((rest >> 1) + (rest % 2), 'x')]) {
      await ground.s3.send(new PutObjectCommand({ Bucket, Key: key, Body: 'long' }))
      expect(String(await bytesAt(ground, { Bucket, Key: key }))).toBe('long')
    }
  },
  'refuses a key of more than 1024 bytes': async (ground) => {
    const { Bucket, Key } = ground.target('')
    const put = new PutObjectCommand({ Bucket, Key: Key.padEnd(1025, 'x'), Body: 'long' })
    await expectRefusal(ground.s3.send(put), 400, 'KeyTooLongError')
  },
} satisfies Record<string, Prove>
