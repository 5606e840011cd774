import { HeadObjectCommand } from '@aws-sdk/client-s3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type GoogleCloud, makeKeyFile, startGoogleCloud } from '../../../test/support/google-cloud.ts'
import {
  BUCKET,
  type BucketInTest,
  disposeLocalBucket,
  openLocalBucket,
  REGION,
  WRITER,
} from '../../../test/support/local-bucket.ts'
import { hours, minutes } from '../../platform/kernel/clock.ts'
import { createGuardedAgents } from '../../platform/net/guarded-agents.ts'
import { openBucket } from '../open-bucket.ts'
import { capabilitiesOf } from '../providers.ts'
import type { ServiceAccountKey } from './service-account.ts'

describe('a bucket with the key of a service account', () => {
  const bytes = Buffer.from('hello')
  const body = { chunks: [bytes], bytes: bytes.length, crc32: 0x3610a686 }
  let local: BucketInTest
  let cloud: GoogleCloud
  let clock: { ms: number; now(): number }
  beforeEach(async () => {
    clock = { ms: Date.now(), now: () => clock.ms }
    local = await openLocalBucket({ clock })
    cloud = await startGoogleCloud(clock, { endpoint: local.endpoint, region: REGION, key: WRITER })
  })
  afterEach(async () => {
    await cloud.close()
    await disposeLocalBucket(local)
  })

  function open(changes: Partial<ServiceAccountKey> = {}) {
    const file = JSON.parse(cloud.keyFile)
    const place = {
      endpoint: cloud.endpoint,
      region: 'auto',
      bucket: BUCKET,
      forcePathStyle: true,
      storageClass: 'STANDARD',
      encryption: null,
      capabilities: capabilitiesOf('gcs', null),
    }
    const key = {
      email: file.client_email,
      keyId: file.private_key_id,
      privateKey: file.private_key,
      tokenUrl: file.token_uri,
      ...changes,
    }
    return openBucket(place, key, { clock, agents: createGuardedAgents(['*']), retryDelaysMs: [0] })
  }
  let written = 0
  const put = (bucket: ReturnType<typeof open>) =>
    bucket.putObject({ key: `object-${++written}`, contentType: 'text/plain' }, body)

  it("uses one token for all requests, and Google's names for object settings", async () => {
    const bucket = open()
    const object = { metadata: { scene: '1' } }
    const target = { key: 'film', contentType: 'video/mp4', object }
    const multipartId = await bucket.createMultipart(target)
    const { etag } = await bucket.uploadPart({ key: 'film', multipartId, number: 1 }, body)
    const parts = [{ number: 1, etag, crc32: body.crc32 }]
    await bucket.completeMultipart({ ...target, multipartId }, { ...body, parts })
    await Promise.all([put(bucket), put(bucket), put(bucket)])
    expect(cloud.issuing.requests).toBe(1)
    expect(await local.s3.send(new HeadObjectCommand({ Bucket: BUCKET, Key: 'film' }))).toMatchObject({
      ContentLength: bytes.length,
      Metadata: { scene: '1' },
    })
  })

  it('renews tokens one at a time, and never sends an ended one', async () => {
    const bucket = open()
    for (const endsAtMs = clock.ms + hours(12); clock.ms < endsAtMs; clock.ms += minutes(11))
      await Promise.all([put(bucket), put(bucket)])
    expect(cloud.refused).toBe(0)
    expect(cloud.issuing.requests).toBeGreaterThan(12)
    expect(cloud.issuing.most).toBe(1)
  })

  it('obtains another token if the bucket no longer accepts this one', async () => {
    const bucket = open()
    await put(bucket)
    cloud.grants.clear()
    await Promise.all([put(bucket), put(bucket)])
    expect(cloud.issuing.requests).toBe(2)
  })

  it.each<[string, () => Partial<ServiceAccountKey>, string]>([
    ['another private key', () => ({ privateKey: makeKeyFile().file.private_key }), 'Invalid JWT Signature.'],
    ['a deleted key', () => ({ keyId: 'key-0' }), 'account not found'],
    ['another account', () => ({ email: 'other@acme-media.iam.gserviceaccount.com' }), 'account not found'],
    ['another audience', () => ({ tokenUrl: `${cloud.endpoint}/token?v=2` }), 'Failed audience check.'],
  ])("reports what the provider says about %s as the customer's fault", async (_, changes, words) => {
    const failed = await put(open(changes())).catch((error) => error)
    expect(failed).toMatchObject({
      kind: 'refused',
      code: 'NoToken',
      message: expect.stringContaining(words),
    })
    expect(local.traffic.seen()).toEqual([])
  })

  it('retries if the token endpoint is temporarily unavailable', async () => {
    cloud.responses.push({ status: 503, body: '' })
    await put(open())
    cloud.responses.push({ status: 503, body: '' }, { status: 200, body: '<html>Sign in</html>' })
    const failed = await put(open()).catch((error) => error)
    expect(failed).toMatchObject({ kind: 'trouble', code: 'NoToken', attempts: 0 })
  })

  it.each(['http://169.254.169.254/computeMetadata/v1/token', 'http://[fd20:ce::254]/token'])(
    'requests no token from %s',
    async (tokenUrl) => {
      const failed = await put(open({ tokenUrl })).catch((error) => error)
      expect(failed).toMatchObject({ kind: 'refused', message: expect.stringContaining('token_uri') })
    },
  )
})
