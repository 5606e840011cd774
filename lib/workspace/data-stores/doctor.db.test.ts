import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ALL_ACTIONS } from '../../../packages/local-bucket/key-ring.ts'
import { type Bucket, startBucket } from '../../../test/support/bucket.ts'
import type { RuleName } from '../../../test/support/bucket-rules.ts'
import { openTestDatabase } from '../../../test/support/databases.ts'
import { startGoogleCloud } from '../../../test/support/google-cloud.ts'
import { type TestRuntime, testRuntime } from '../../../test/support/runtime.ts'
import { createTestWorkspace, type TestWorkspace } from '../../../test/support/workspace.ts'
import type { DatabaseHandle } from '../../platform/db/database.ts'
import { minutes } from '../../platform/kernel/clock.ts'
import { parseInput } from '../../platform/kernel/parse-input.ts'
import { loadConfig } from '../../platform/settings/config.ts'
import { createPipe } from '../pipes/create-pipe.ts'
import { pipeInput } from '../pipes/pipe.ts'
import { checkBucket, checkDataStore } from './check-data-store.ts'
import { createDataStore } from './create-data-store.ts'
import { dataStoreInput } from './data-store.ts'

const PUT_ONLY = { accessKeyId: 'PUTONLY', secretAccessKey: 'put-only-secret' }
const OWNER = { accessKeyId: 'OWNER', secretAccessKey: 'owner-secret' }

describe('the bucket doctor', () => {
  let database: DatabaseHandle
  let runtime: TestRuntime
  let mine: TestWorkspace
  let bucket: Bucket
  let silent: Server
  let directory: string
  beforeAll(async () => {
    database = await openTestDatabase()
    runtime = testRuntime(database)
    runtime.clock.advance(Date.now() - runtime.clock.now())
    mine = await createTestWorkspace(runtime)
    directory = mkdtempSync(join(tmpdir(), 'sluice-doctor-'))
    const keys = [
      { ...PUT_ONLY, actions: ['s3:PutObject' as const] },
      { ...OWNER, actions: ALL_ACTIONS },
    ]
    bucket = await startBucket({
      directory,
      region: 'eu-test-1',
      buckets: ['media', 'dotted.name'],
      keys,
    })
    silent = createServer(() => {}).listen(0, '127.0.0.1')
    await new Promise((resolve) => silent.once('listening', resolve))
  })
  afterEach(async () => {
    bucket.rules.clear()
    await database.db.execute(sql`delete from rate_limits`)
  })
  afterAll(async () => {
    await bucket.close()
    silent.close()
    await database.close()
    rmSync(directory, { recursive: true })
  })

  const entered = (changes: object = {}) =>
    parseInput(dataStoreInput, {
      name: 'Checked',
      provider: 'other',
      endpoint: bucket.endpoint,
      region: 'eu-test-1',
      bucket: 'media',
      ...PUT_ONLY,
      ...changes,
    })
  const check = (changes: object = {}) => checkBucket(runtime, mine.actor, entered(changes))
  const objects = () =>
    readdirSync(join(directory, 'media'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(join(directory, 'media'), entry.parentPath))
  const byName = (checked: Awaited<ReturnType<typeof check>>) =>
    Object.fromEntries(checked.operations.map(({ name, ok }) => [name, ok]))

  it('accepts put-only keys, and leaves two small objects behind', async () => {
    const checked = await check()
    expect(checked.ok).toBe(true)
    expect(byName(checked)).toEqual({
      PutObject: true,
      CreateMultipartUpload: true,
      UploadPart: true,
      AbortMultipartUpload: false,
      CompleteMultipartUpload: true,
      GetObject: false,
      DeleteObject: false,
    })
    const refused = checked.operations.filter(({ ok }) => !ok)
    expect(refused.map(({ message }) => message)).toEqual(
      refused.map(() => expect.stringMatching(/^Not needed\./)),
    )
    expect(JSON.parse(checked.policy!).Statement).toEqual([
      { Effect: 'Allow', Action: ['s3:PutObject'], Resource: ['arn:aws:s3:::media/*'] },
    ])
    expect(JSON.parse(checked.lifecycleRule!).Rules).toMatchObject([
      { AbortIncompleteMultipartUpload: { DaysAfterInitiation: 31 } },
      { Filter: { Prefix: '.sluice-checks/' }, Expiration: { Days: 1 } },
    ])
    const folder = expect.stringMatching(/^\.sluice-checks\/[0-9a-f-]{36}$/)
    expect(objects()).toEqual([folder, folder])
    const { CreateMultipartUpload: begun, CompleteMultipartUpload: completed } = bucket.traffic.counts()
    expect(begun).toBe(completed)
  })

  it("detects an owner's additional permissions, uses them later, and leaves nothing behind", async () => {
    rmSync(join(directory, 'media', '.sluice-checks'), { recursive: true })
    const store = await createDataStore(runtime, mine.actor, entered(OWNER))
    const { check: checked } = await checkDataStore(runtime, mine.actor, store.id)
    expect(checked!.ok).toBe(true)
    expect(checked!.operations.every(({ ok }) => ok)).toBe(true)
    expect(checked!.lifecycleRule).toBeUndefined()
    expect(objects()).toEqual([])
    const [row] = await database.db.query.dataStores.findMany({ where: (t, { eq }) => eq(t.id, store.id) })
    expect(row).toMatchObject({ mayAbort: true, mayRead: true, mayDelete: true })
  })

  it("uses a service account's key, and reports what its token endpoint says", async () => {
    const cloud = await startGoogleCloud(runtime.clock, {
      endpoint: bucket.endpoint,
      region: 'eu-test-1',
      key: PUT_ONLY,
    })
    const google = {
      provider: 'gcs',
      endpoint: cloud.endpoint,
      region: undefined,
      accessKeyId: undefined,
      secretAccessKey: undefined,
      serviceAccountKey: cloud.keyFile,
    }
    const checked = await check(google)
    expect(checked.ok).toBe(true)
    expect(checked.policy).toContain('serviceAccount:sluice@acme-media.iam.gserviceaccount.com')
    expect(cloud.issuing.requests).toBe(1)
    cloud.keys.clear()
    expect((await check(google)).operations).toEqual([
      { name: 'PutObject', ok: false, message: expect.stringContaining('Invalid grant: account not found') },
    ])
    await cloud.close()
  })

  /** The check's findings for a bucket with these rules. */
  const found = async (rules: readonly RuleName[], changes: object = {}) => {
    bucket.rules.clear()
    for (const rule of rules) bucket.rules.add(rule)
    const store = await createDataStore(runtime, mine.actor, entered(changes))
    const { check: checked } = await checkDataStore(runtime, mine.actor, store.id)
    const [row] = await database.db.query.dataStores.findMany({ where: (t, { eq }) => eq(t.id, store.id) })
    return { id: store.id, ok: checked!.ok, may: byName(checked!), found: row!.found, checked: checked! }
  }
  const GCS = ['no-overwrite', 'one-write-a-second', 'no-part-copy', 'no-if-none-match'] as const

  it('can check a Data Store for two people at the same time', async () => {
    const { id } = await createDataStore(runtime, mine.actor, entered())
    runtime.clock.advance(minutes(1))
    const first = checkDataStore(runtime, mine.actor, id)
    const second = checkDataStore(runtime, mine.actor, id)
    expect([(await first).check?.ok, (await second).check?.ok]).toEqual([true, true])
  })

  it('writes each object key only once, since put-only credentials may not be able to overwrite', async () => {
    const asked = { provider: 'gcs', region: 'auto' }
    bucket.rules.add('no-overwrite')
    const wrongRegion = await check(asked)
    expect(wrongRegion.operations[0]!.message).toContain('The region is wrong')
    expect(await found(GCS)).toMatchObject({ ok: true, found: {} })
    expect(await found(GCS, OWNER)).toMatchObject({ ok: true, may: { UploadPartCopy: false } })
  })

  it.each([
    ['aws', ['checksum-required', 'if-none-match-required'], {}],
    ['aws', ['content-md5-required'], { bodyChecksum: 'md5' }],
    ['other', ['checksum-required', 'no-checksum-headers', 'no-if-none-match'], { bodyChecksum: 'md5' }],
    ['other', ['checksum-required'], { bodyChecksum: 'crc32' }],
    ['other', ['md5-or-sdk-header-required'], { bodyChecksum: 'md5' }],
    ['other', ['no-checksum-headers', 'no-if-none-match'], {}],
    ['minio', ['no-full-object-checksum'], { fullObjectCrc32: false }],
    [
      'minio',
      ['no-full-object-checksum', 'no-if-none-match'],
      { fullObjectCrc32: false, ifNoneMatch: false },
    ],
  ] as const)('finds out which requests %s accepts with the rules %j', async (provider, rules, expected) => {
    const { ok, found: kept } = await found(rules, { provider })
    expect(ok).toBe(true)
    expect(kept).toMatchObject(expected)
    if (Object.keys(expected).length === 0) expect(kept).toEqual({})
  })

  it('leaves working capabilities unchanged, since uploads in progress rely on them', async () => {
    const { id } = await found(['no-full-object-checksum'], { provider: 'minio' })
    bucket.rules.clear()
    const { check: again } = await checkDataStore(runtime, mine.actor, id)
    expect(again!.ok).toBe(true)
    const [row] = await database.db.query.dataStores.findMany({ where: (t, { eq }) => eq(t.id, id) })
    expect(row!.found).toEqual({ fullObjectCrc32: false })
  })

  it('finds out whether parts can be copied if nothing is known about the provider', async () => {
    expect(await found([], OWNER)).toMatchObject({ found: { copyParts: true } })
    const without = await found(['no-part-copy'], OWNER)
    expect(without).toMatchObject({ ok: true, may: { UploadPartCopy: false } })
    expect(without.found).toEqual({})
    const minio = await found(['no-copy-into-checksums'], { ...OWNER, provider: 'minio' })
    expect(minio.may).toMatchObject({ UploadPartCopy: true })
    expect(minio.found).toEqual({})
  })

  it('tests the object settings of its Pipes, without affecting uploads to other Pipes', async () => {
    const store = await createDataStore(runtime, mine.actor, entered())
    const pipeWith = (name: string, object: object) =>
      createPipe(runtime, mine.actor, parseInput(pipeInput, { name, dataStoreId: store.id, object }))
    await pipeWith('Fine', { cacheControl: 'no-store', storageClass: 'GLACIER_IR' })
    await pipeWith('Tagged', { tags: { a: 'b' } })
    await pipeWith('Odd', { storageClass: 'NO_SUCH_CLASS' })
    const before = bucket.traffic.counts()
    const { check: checked } = await checkDataStore(runtime, mine.actor, store.id)
    expect(checked!.ok).toBe(true)
    expect(byName(checked!)).toMatchObject({
      'Object settings of Fine': true,
      'Object settings of Tagged': false,
      'Object settings of Odd': false,
    })
    const said = checked!.operations.map(({ message }) => message).join('\n')
    expect(said).toContain('Tags need s3:PutObjectTagging.')
    expect(said).toContain('400 InvalidStorageClass')
    expect(checked!.policy).toContain('s3:PutObjectTagging')
    const after = bucket.traffic.counts()
    expect(after.PutObject! - before.PutObject!).toBe(4)
  })

  it('does not conclude from a transient error that a bucket cannot copy', async () => {
    const trouble = { kind: 'refuse', status: 503, code: 'SlowDown' } as const
    bucket.faults.add({ operation: 'UploadPartCopy', effect: trouble })
    const { may, found: kept } = await found([], { ...OWNER, provider: 'aws' })
    expect(may).toMatchObject({ UploadPartCopy: false })
    expect(kept).toEqual({})
  })

  it('sends the same requests as uploads, so it gets the same refusals', async () => {
    const { ok, checked } = await found(['no-unsigned-payload'])
    expect(ok).toBe(false)
    expect(checked.operations[0]!.message).toContain('signed payloads, which Sluice does not send')
    // No certificate covers a bucket name with a dot as part of the host name, so it goes into the path.
    const dotted = { bucket: 'dotted.name', forcePathStyle: false }
    expect(await found(['virtual-hosts-are-dns-labels'], dotted)).toMatchObject({ ok: true })
  })

  it("distinguishes a proxy's page from an S3 response", async () => {
    const { ok, checked } = await found(['html-answers'])
    expect(ok).toBe(false)
    expect(checked.operations).toMatchObject([{ message: expect.stringContaining('Is there a proxy') }])
    const { may } = await found(['complete-without-result'])
    expect(may).toMatchObject({ PutObject: true, CompleteMultipartUpload: false })
  })

  const messageOf = async (changes: object) => {
    const checked = await check(changes)
    expect(checked.ok).toBe(false)
    expect(checked.operations).toHaveLength(1)
    return checked.operations[0]!.message
  }

  it.each([
    ['a wrong secret', { secretAccessKey: 'not-it' }, /^The secret access key is wrong/],
    ['a wrong key id', { accessKeyId: 'NOBODY' }, /does not recognize this access key id/],
    ['a wrong bucket', { bucket: 'another' }, /^There is no bucket “another”/],
    ['a wrong region', { region: 'us-east-1' }, /^The region is wrong: the bucket is in eu-test-1/],
    [
      'an endpoint that does not resolve',
      { endpoint: 'https://nowhere.invalid' },
      /nowhere\.invalid does not resolve \(DNS\)/,
    ],
    [
      'a port on which nothing is listening',
      { endpoint: 'http://127.0.0.1:1' },
      /refuses connections \(ECONNREFUSED\)/,
    ],
    ['a cloud metadata address', { endpoint: 'http://169.254.169.254' }, /reserved and never allowed/],
  ])('explains the problem with %s', async (_, changes, words) => {
    expect(await messageOf(changes)).toMatch(words)
  })

  it('reports how far the clock is off', async () => {
    const set = (offMs: number) => runtime.clock.advance(Date.now() + offMs - runtime.clock.now())
    set(minutes(20))
    expect(await messageOf({})).toContain("is 20 minutes ahead of the bucket's")
    set(minutes(-20))
    expect(await messageOf({})).toContain("is 20 minutes behind the bucket's")
    set(0)
  })

  it('gives up after 9 seconds on an endpoint that hangs', { tags: 'long' }, async () => {
    const { port } = silent.address() as { port: number }
    expect(await messageOf({ endpoint: `http://127.0.0.1:${port}` })).toBe(
      `127.0.0.1:${port} did not respond within 9 seconds.`,
    )
  })

  it("does not reveal this machine's open ports to users behind its proxy, even for existing Data Stores", async () => {
    const { port } = silent.address() as { port: number }
    const before = await createDataStore(runtime, mine.actor, entered())
    const env = { DATA_DIR: directory, HOST: '127.0.0.1', BASE_URL: 'https://sluice.example.com' }
    const { allowedPrivateHosts } = loadConfig(env)
    const behindProxy = { ...runtime, config: { ...runtime.config, allowedPrivateHosts } }
    const told = async (openPort: number) => {
      const { operations } = await checkBucket(
        behindProxy,
        mine.actor,
        entered({ endpoint: `https://127.0.0.1:${openPort}` }),
      )
      return operations.map(({ message }) => message)
    }
    const refusal = [expect.stringContaining('is not on the public internet')]
    expect(await told(port)).toEqual(refusal)
    expect(await told(1)).toEqual(await told(port))
    const plain = checkBucket(behindProxy, mine.actor, entered())
    await expect(plain).rejects.toMatchObject({ code: 'invalid_request' })
    const { check: checked } = await checkDataStore(behindProxy, mine.actor, before.id)
    expect(checked!.operations.map(({ message }) => message)).toEqual(refusal)
  })
})
