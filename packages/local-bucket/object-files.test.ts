import { createHash } from 'node:crypto'
import { cp, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  BUCKET,
  type BucketInTest,
  disposeLocalBucket,
  openLocalBucket,
} from '../../test/support/local-bucket.ts'

let bucket: BucketInTest

beforeEach(async () => {
  bucket = await openLocalBucket()
})
afterEach(async () => {
  await disposeLocalBucket(bucket)
})

const at = (Key: string) => ({ Bucket: BUCKET, Key })
const put = (Key: string, more = {}) =>
  bucket.s3.send(new PutObjectCommand({ ...at(Key), Body: Key, ...more }))
const remove = (Key: string) => bucket.s3.send(new DeleteObjectCommand(at(Key)))
const head = (Key: string) => bucket.s3.send(new HeadObjectCommand(at(Key)))
const file = (path: string) => join(bucket.directory, BUCKET, path)
const shown = async () => (await readdir(file(''), { recursive: true })).sort()

describe('objects as files', () => {
  it("are only in the bucket's folder, even if a symlink leads elsewhere", async () => {
    const outside = join(bucket.directory, 'outside')
    await mkdir(outside)
    await writeFile(join(outside, 'secret'), 'not of the bucket')
    await put('inside/real')
    await symlink(outside, file('folder'))
    await symlink(join(outside, 'secret'), file('linked'))
    await symlink(file('inside'), file('within'))
    for (const key of ['folder/secret', 'linked']) {
      await expect(head(key)).rejects.toMatchObject({ name: 'NotFound' })
      await remove(key)
    }
    await expect(put('folder/new')).rejects.toMatchObject({ name: 'AccessDenied' })
    await expect(put('folder/deeper/new')).rejects.toMatchObject({ name: 'AccessDenied' })
    expect(await readdir(outside)).toEqual(['secret'])
    expect(await head('within/real')).toMatchObject({ ContentLength: 11 })
  })

  it("are the only entries in the bucket's folder", async () => {
    await put('a/b.txt', { ContentType: 'text/plain', Metadata: { x: 'y' } })
    await put('c')
    expect(await shown()).toEqual(['a', 'a/b.txt', 'c'])
  })

  it('leave no folder behind when the last one in it is deleted', async () => {
    await put('a/b/c')
    await put('a/d')
    await remove('a/b/c')
    expect(await shown()).toEqual(['a', 'a/d'])
    await remove('a/d')
    expect(await shown()).toEqual([])
  })

  it('can be created and deleted in one folder at the same time', async () => {
    const folders = Array.from({ length: 40 }, (_, n) => `folder-${n}`)
    await Promise.all(
      folders.map((folder) =>
        Promise.all([
          remove(`${folder}/b`),
          put(`${folder}/a`),
          remove(`${folder}/c`),
          remove(`${folder}/d`),
        ]),
      ),
    )
    for (const folder of folders)
      expect(await head(`${folder}/a`)).toMatchObject({ ContentLength: folder.length + 2 })
  })

  it('are read completely, with their own metadata, while they are overwritten', async () => {
    const versions = [1, 2].map((n) => ({ Body: String(n).repeat(n * 100_000), ContentType: `text/${n}` }))
    await put('a', versions[0])
    const read = async () => {
      const { Body, ContentType, ETag } = await bucket.s3.send(new GetObjectCommand(at('a')))
      const text = await Body!.transformToString()
      expect(ETag).toBe(`"${createHash('md5').update(text).digest('hex')}"`)
      expect(versions).toContainEqual({ Body: text, ContentType })
    }
    for (let n = 0; n < 20; n++) await Promise.all([read(), put('a', versions[n % 2]), read(), read()])
  })

  it('keep type and metadata across a restart', async () => {
    await put('a', { ContentType: 'image/png', Metadata: { x: 'y' } })
    bucket = await bucket.restart()
    expect(await head('a')).toMatchObject({ ContentType: 'image/png', Metadata: { x: 'y' } })
  })
})

describe('a key that is both a file and a folder', () => {
  const refusal = { name: 'InvalidArgument', message: expect.stringContaining('keeps objects as files') }

  it('is refused in either order, and nothing is lost', async () => {
    await put('a')
    await expect(put('a/b')).rejects.toMatchObject(refusal)
    await put('c/d')
    await expect(put('c')).rejects.toMatchObject(refusal)
    await expect(put('c', { IfNoneMatch: '*' })).rejects.toMatchObject(refusal)
    expect(await shown()).toEqual(['a', 'c', 'c/d'])
    expect(await readdir(join(bucket.directory, '.sluice/staging'))).toEqual([])
    expect(await readdir(join(bucket.directory, '.sluice/metadata', BUCKET))).toHaveLength(2)
  })

  it('is refused before the bytes of a multipart upload are sent', async () => {
    await put('a')
    await put('c/d')
    for (const key of ['a/b', 'c']) {
      await expect(bucket.s3.send(new CreateMultipartUploadCommand(at(key)))).rejects.toMatchObject(refusal)
    }
  })

  it('is not found as an object while it is a folder', async () => {
    await put('a/b')
    await expect(head('a')).rejects.toMatchObject({ name: 'NotFound' })
    await remove('a')
    expect(await shown()).toEqual(['a', 'a/b'])
  })
})

describe('files that were not stored through S3', () => {
  it('become objects', async () => {
    await mkdir(file('by'))
    await writeFile(file('by/hand.txt'), 'hello')
    const { Contents } = await bucket.s3.send(new ListObjectsV2Command({ Bucket: BUCKET }))
    const ETag = '"5d41402abc4b2a76b9719d911017c592"'
    expect(Contents).toMatchObject([{ Key: 'by/hand.txt', Size: 5, ETag }])
    expect(await head('by/hand.txt')).toMatchObject({ ETag, ContentType: 'binary/octet-stream' })
  })

  it('become new objects if they replace one', async () => {
    await put('a', { ContentType: 'image/png' })
    await writeFile(file('a'), 'hello')
    expect(await head('a')).toMatchObject({ ContentLength: 5, ContentType: 'binary/octet-stream' })
    const { Body } = await bucket.s3.send(new GetObjectCommand({ ...at('a'), ChecksumMode: 'ENABLED' }))
    expect(await Body!.transformToString()).toBe('hello')
  })

  it('remain the same objects after the folder is copied', async () => {
    const { ETag } = await put('a', { ContentType: 'image/png' })
    const copy = `${bucket.directory}-copy`
    await cp(bucket.directory, copy, { recursive: true })
    const other = await openLocalBucket({ directory: copy })
    expect(await other.s3.send(new HeadObjectCommand(at('a')))).toMatchObject({
      ETag,
      ContentType: 'image/png',
    })
    await disposeLocalBucket(other)
  })

  it('are still objects if the record is damaged', async () => {
    await put('a', { ContentType: 'image/png' })
    const records = join(bucket.directory, '.sluice/metadata', BUCKET)
    for (const record of await readdir(records)) await writeFile(join(records, record), '{"key":')
    expect(await head('a')).toMatchObject({ ContentLength: 1, ContentType: 'binary/octet-stream' })
    await rm(records, { recursive: true })
    await mkdir(records)
    expect(await head('a')).toMatchObject({ ContentLength: 1 })
  })
})

describe('a bucket that keeps no bytes', () => {
  beforeEach(async () => {
    await disposeLocalBucket(bucket)
    bucket = await openLocalBucket({ keepBytes: false })
  })

  it('still reports sizes and types, and verifies checksums', async () => {
    await put('a', { Body: Buffer.alloc(3 * 2 ** 20, 1), ContentType: 'image/png' })
    expect(await head('a')).toMatchObject({ ContentLength: 3 * 2 ** 20, ContentType: 'image/png' })
    await expect(put('b', { ChecksumCRC32: 'AAAAAA==' })).rejects.toMatchObject({ name: 'BadDigest' })
    await expect(put('b', { ContentMD5: 'AAAAAAAAAAAAAAAAAAAAAA==' })).rejects.toMatchObject({
      name: 'BadDigest',
    })
  })
})
