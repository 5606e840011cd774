import { randomBytes, randomUUID } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ProviderName } from '#drizzle/schema/index.ts'
import { ACCOUNT_KEY, CONTAINER, makeSas } from '../../test/support/azure-signatures.ts'
import { startAzureStorage } from '../../test/support/azure-storage.ts'
import {
  BUCKET,
  disposeLocalBucket,
  openLocalBucket,
  READER,
  REGION,
} from '../../test/support/local-bucket.ts'
import { type GivenAzure, type GivenS3, namedAzure, namedS3 } from '../../test/support/named-clouds.ts'
import { systemClock } from '../platform/kernel/clock.ts'
import { createGuardedAgents } from '../platform/net/guarded-agents.ts'
import { type AzureCredentials, authorizeAzure } from './azure/authorize-azure.ts'
import { isBucketError } from './bucket-error.ts'
import type { BucketPlace } from './bucket-place.ts'
import { type CallBucket, createCaller } from './call-bucket.ts'
import { type BucketClient, openBucket } from './open-bucket.ts'
import { capabilitiesOf } from './providers.ts'
import { authorizeS3, type S3Credentials } from './s3/authorize-s3.ts'

/**
 * What uploads assume about every bucket, whatever its protocol: on the tests' own servers, and on those named in
 * test/support/named-clouds.ts.
 */
type Ground = {
  open(changes?: Partial<BucketPlace>): BucketClient
  call: CallBucket
  close(): Promise<void>
}

const deps = { clock: systemClock, agents: createGuardedAgents(['*']), retryDelaysMs: [] }
type Place = Pick<BucketPlace, 'endpoint' | 'region' | 'bucket'> & { provider: ProviderName }

function groundOf(
  { provider, ...where }: Place,
  credentials: S3Credentials | AzureCredentials,
  close = async () => {},
): Ground {
  const settings = { forcePathStyle: true, storageClass: null, encryption: null, mayRead: true }
  const place = { ...where, ...settings, capabilities: capabilitiesOf(provider, null) }
  const authorizer =
    provider === 'azure'
      ? authorizeAzure(place, credentials as AzureCredentials, deps)
      : authorizeS3(place, credentials as S3Credentials, deps)
  return {
    open: (changes) => openBucket({ ...place, ...changes }, credentials, deps),
    call: createCaller(place, authorizer, deps),
    close,
  }
}

async function onS3(): Promise<Ground> {
  const local = await openLocalBucket()
  const place = { provider: 'aws', endpoint: local.endpoint, region: REGION, bucket: BUCKET } as const
  return groundOf(place, READER, () => disposeLocalBucket(local))
}

const onAzure = (credentials: AzureCredentials) => async (): Promise<Ground> => {
  const { endpoint, close } = await startAzureStorage(systemClock)
  return groundOf({ provider: 'azure', endpoint, region: 'auto', bucket: CONTAINER }, credentials, close)
}

const onNamed = (named: GivenAzure | GivenS3 | undefined) => async (): Promise<Ground> => {
  const { provider, endpoint, region, bucket, keys } = named!
  return groundOf({ provider, endpoint, region, bucket }, keys)
}

const grounds: [string, () => Promise<Ground>, isMissing?: boolean][] = [
  ['S3', onS3],
  ["Azure with the account's key", onAzure({ storageAccountKey: ACCOUNT_KEY })],
  ['Azure with a SAS', onAzure({ sasToken: makeSas({ permissions: 'rcwdl' }) })],
  ['the Azure in AZURE_TEST_ENDPOINT', onNamed(namedAzure), !namedAzure],
  ['the server in S3_TEST_ENDPOINT', onNamed(namedS3), !namedS3],
]

const MIB = 2 ** 20
const bodyOf = (...chunks: Buffer[]) => {
  const bytes = Buffer.concat(chunks)
  return { chunks, bytes: bytes.length, crc32: crc32(bytes) }
}

for (const [name, make, isMissing] of grounds)
  describe.skipIf(isMissing)(`a bucket on ${name}`, () => isLikeAnyOther(make))

function isLikeAnyOther(make: () => Promise<Ground>): void {
  let ground: Ground
  let bucket: BucketClient
  beforeAll(async () => {
    ground = await make()
    bucket = ground.open()
  })
  afterAll(() => ground.close())
  const targetOf = (name: string) => ({
    key: `${randomUUID()}/${name}`,
    contentType: 'video/mp4',
    object: null,
  })

  async function sendParts(target: ReturnType<typeof targetOf>, bodies: ReturnType<typeof bodyOf>[]) {
    const multipartId = await bucket.createMultipart(target)
    // The last part first: parts arrive in any order.
    const sent = bodies.map((body, n) => ({ body, number: n + 1 })).reverse()
    const parts = []
    for (const { body, number } of sent) {
      const { etag } = await bucket.uploadPart({ ...target, multipartId, number }, body)
      parts.unshift({ number, etag, crc32: body.crc32 })
    }
    const whole = bodyOf(...bodies.flatMap(({ chunks }) => chunks))
    return { upload: { ...target, multipartId }, object: { ...whole, parts } }
  }

  it('stores an object at once, and returns its size and any range', async () => {
    const target = targetOf('räksmörgås & +%20.mp4')
    const bytes = randomBytes(3 * MIB)
    const { etag } = await bucket.putObject(target, bodyOf(bytes.subarray(0, MIB), bytes.subarray(MIB)))
    expect(await bucket.headObject(target.key)).toEqual({ bytes: bytes.length, etag })
    expect((await bucket.readRange(target.key, 5, 2 * MIB)).equals(bytes.subarray(5, 2 * MIB + 5))).toBe(true)
  })

  it('stores an empty object', async () => {
    const target = targetOf('empty')
    await bucket.putObject(target, bodyOf())
    expect(await bucket.headObject(target.key)).toMatchObject({ bytes: 0 })
  })

  it('makes an object of parts in the order of their numbers', async () => {
    const target = targetOf('parts')
    const bytes = [randomBytes(5 * MIB), randomBytes(5 * MIB), randomBytes(17)]
    const { upload, object } = await sendParts(
      target,
      bytes.map((one) => bodyOf(one)),
    )
    expect(await bucket.headObject(target.key)).toBeUndefined()
    const { etag } = await bucket.completeMultipart(upload, object)
    expect(await bucket.headObject(target.key)).toEqual({ bytes: object.bytes, etag })
    expect((await bucket.readRange(target.key, 0, object.bytes)).equals(Buffer.concat(bytes))).toBe(true)
  })

  it('accepts a part again, and keeps it apart from that of another attempt', async () => {
    const target = targetOf('again')
    const [wrong, right] = [bodyOf(randomBytes(99)), bodyOf(randomBytes(99))]
    const multipartId = await bucket.createMultipart(target)
    const other = await bucket.createMultipart(target)
    const first = await bucket.uploadPart({ ...target, multipartId, number: 1 }, right)
    expect(await bucket.uploadPart({ ...target, multipartId, number: 1 }, right)).toEqual(first)
    await bucket.uploadPart({ ...target, multipartId: other, number: 1 }, wrong)
    const parts = [{ number: 1, ...first, crc32: right.crc32 }]
    await bucket.completeMultipart({ ...target, multipartId }, { ...right, parts })
    expect((await bucket.readRange(target.key, 0, 99)).equals(right.chunks[0]!)).toBe(true)
  })

  it('stores the settings of an object, however it is made', async () => {
    const object = {
      cacheControl: 'no-store',
      contentDisposition: `attachment; filename="a.mp4"; filename*=UTF-8''%C3%A9.mp4`,
      metadata: { scene: 'také 1' },
    }
    const [atOnce, inParts] = [targetOf('a'), targetOf('b')].map((target) => ({ ...target, object }))
    await bucket.putObject(atOnce!, bodyOf(Buffer.of(1)))
    const multipartId = await bucket.createMultipart(inParts!)
    const { etag } = await bucket.uploadPart({ ...inParts!, multipartId, number: 1 }, bodyOf(Buffer.of(1)))
    const whole = { ...bodyOf(Buffer.of(1)), parts: [{ number: 1, etag, crc32: crc32(Buffer.of(1)) }] }
    await bucket.completeMultipart({ ...inParts!, multipartId }, whole)
    for (const { key } of [atOnce!, inParts!]) {
      const { headers } = await ground.call({ operation: 'Get', method: 'GET', key, wantedBytes: 1 })
      expect(headers).toMatchObject({
        'content-type': 'video/mp4',
        'cache-control': 'no-store',
        'content-disposition': object.contentDisposition,
      })
      expect(headers['x-amz-meta-scene'] ?? headers['x-ms-meta-scene']).toBe('=?UTF-8?B?dGFrw6kgMQ==?=')
    }
  })

  it('replaces no object', async () => {
    const target = targetOf('once')
    const body = bodyOf(randomBytes(7))
    const { etag } = await bucket.putObject(target, body)
    expect(await bucket.putObject(target, body)).toEqual({ etag, isFound: true })
    expect(await ground.open({ mayRead: false }).putObject(target, body)).toEqual({ etag: null })
    const { upload, object } = await sendParts(target, [bodyOf(randomBytes(8))])
    const thrown = await bucket.completeMultipart(upload, object).catch((error) => error)
    expect(thrown).toMatchObject({ kind: 'exists' })
    await bucket.abortMultipart(upload)
    expect((await bucket.readRange(target.key, 0, 7)).equals(body.chunks[0]!)).toBe(true)
    await expect(bucket.putObject(target, bodyOf(randomBytes(9)))).rejects.toThrow('7 bytes instead of 9')
  })

  it('makes one object of parts, however often it is asked to', async () => {
    const target = targetOf('twice')
    const { upload, object } = await sendParts(target, [bodyOf(randomBytes(7))])
    const { etag } = await bucket.completeMultipart(upload, object)
    const again = await bucket.completeMultipart(upload, object).catch((error) => error)
    if (isBucketError(again)) expect(['exists', 'no_such_upload']).toContain(again.kind)
    else expect(again).toMatchObject({ etag })
    expect(await bucket.headObject(target.key)).toEqual({ bytes: 7, etag })
  })

  it('aborts and deletes what is not there', async () => {
    const target = targetOf('nothing')
    const multipartId = await bucket.createMultipart(target)
    for (let time = 0; time < 2; time++) await bucket.abortMultipart({ ...target, multipartId })
    for (let time = 0; time < 2; time++) await bucket.deleteObject(target.key)
    expect(await bucket.headObject(target.key)).toBeUndefined()
    await expect(bucket.readRange(target.key, 0, 1)).rejects.toMatchObject({ kind: 'refused' })
  })

  it('lists the objects of a folder, page by page', async () => {
    const folder = randomUUID()
    const names = Array.from({ length: 3 }, (_, n) => `${folder}/${n} & ü`)
    for (const key of names) await bucket.putObject({ ...targetOf('x'), key }, bodyOf(Buffer.of(1, 2)))
    const { objects, next } = await bucket.listPage(`${folder}/`, null)
    expect(objects).toMatchObject(names.map((key) => ({ key, bytes: 2 })))
    expect(Math.abs(objects[0]!.modifiedMs - Date.now())).toBeLessThan(600_000)
    expect(next).toBeNull()
  })

  it('refuses a container that is not there', async () => {
    const elsewhere = ground.open({ bucket: 'elsewhere' })
    await expect(elsewhere.putObject(targetOf('a'), bodyOf(Buffer.of(1)))).rejects.toMatchObject({
      kind: 'refused',
    })
  })
}
