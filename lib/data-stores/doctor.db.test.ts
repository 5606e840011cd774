import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestDatabase } from '../../e2e/parts/databases.ts'
import { type TestRuntime, testRuntime } from '../../e2e/parts/runtime.ts'
import { createTestWorkspace, type TestWorkspace } from '../../e2e/parts/workspace.ts'
import type { DatabaseHandle } from '../db/database.ts'
import { minutes } from '../kernel/clock.ts'
import { parseInput } from '../kernel/parse-input.ts'
import { ALL_ACTIONS } from '../local-bucket/grants.ts'
import { type LocalBucket, startLocalBucket } from '../local-bucket/start.ts'
import { checkBucket, checkDataStore } from './check-data-store.ts'
import { createDataStore } from './create-data-store.ts'
import { dataStoreInput } from './data-store.ts'

const PUT_ONLY = { accessKeyId: 'PUTONLY', secretAccessKey: 'put-only-secret' }
const OWNER = { accessKeyId: 'OWNER', secretAccessKey: 'owner-secret' }

describe('the bucket doctor', () => {
  let database: DatabaseHandle
  let runtime: TestRuntime
  let mine: TestWorkspace
  let bucket: LocalBucket
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
    bucket = await startLocalBucket({ directory, region: 'eu-test-1', buckets: ['media'], keys })
    silent = createServer(() => {}).listen(0, '127.0.0.1')
    await new Promise((resolve) => silent.once('listening', resolve))
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
    readdirSync(join(directory, 'media')).map((name) => [name, statSync(join(directory, 'media', name)).size])
  const byName = (checked: Awaited<ReturnType<typeof check>>) =>
    Object.fromEntries(checked.operations.map(({ name, ok }) => [name, ok]))

  it('finds that keys which may only put are enough, and leaves one empty object, however often', async () => {
    const checked = await check()
    await check()
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
    expect(JSON.parse(checked.lifecycleRule!).Rules[0].AbortIncompleteMultipartUpload).toEqual({
      DaysAfterInitiation: 31,
    })
    expect(objects()).toEqual([['.sluice-check', 0]])
    const { CreateMultipartUpload: begun, CompleteMultipartUpload: completed } = bucket.traffic.counts()
    expect(begun).toBe(completed)
  })

  it('finds what more an owner may, makes use of it later, and leaves nothing', async () => {
    const store = await createDataStore(runtime, mine.actor, entered(OWNER))
    const { check: checked } = await checkDataStore(runtime, mine.actor, store.id)
    expect(checked!.ok).toBe(true)
    expect(checked!.operations.every(({ ok }) => ok)).toBe(true)
    expect(checked!.lifecycleRule).toBeUndefined()
    expect(objects()).toEqual([])
    const [row] = await database.db.query.dataStores.findMany({ where: (t, { eq }) => eq(t.id, store.id) })
    expect(row).toMatchObject({ mayAbort: true, mayRead: true, mayDelete: true })
  })

  const messageOf = async (changes: object) => {
    const checked = await check(changes)
    expect(checked.ok).toBe(false)
    expect(checked.operations).toHaveLength(1)
    return checked.operations[0]!.message
  }

  it.each([
    ['a wrong secret', { secretAccessKey: 'not-it' }, /^The secret access key is wrong/],
    ['a wrong key id', { accessKeyId: 'NOBODY' }, /does not know this access key id/],
    ['a wrong bucket', { bucket: 'another' }, /^There is no bucket “another”/],
    ['a wrong region', { region: 'us-east-1' }, /^The region is wrong: the bucket is in eu-test-1/],
    [
      'an endpoint that does not resolve',
      { endpoint: 'https://nowhere.invalid' },
      /nowhere\.invalid does not resolve \(DNS\)/,
    ],
    [
      'a port that nobody listens at',
      { endpoint: 'http://127.0.0.1:1' },
      /refuses connections \(ECONNREFUSED\)/,
    ],
    ['a cloud metadata address', { endpoint: 'http://169.254.169.254' }, /reserved and never allowed/],
  ])('says what is wrong with %s', async (_, changes, words) => {
    expect(await messageOf(changes)).toMatch(words)
  })

  it('says by how much the clock is off', async () => {
    const set = (offMs: number) => runtime.clock.advance(Date.now() + offMs - runtime.clock.now())
    set(minutes(20))
    expect(await messageOf({})).toContain("is 20 minutes ahead of the bucket's")
    set(minutes(-20))
    expect(await messageOf({})).toContain("is 20 minutes behind the bucket's")
    set(0)
  })

  it('gives up on an endpoint that hangs, after 9 seconds', async () => {
    const { port } = silent.address() as { port: number }
    expect(await messageOf({ endpoint: `http://127.0.0.1:${port}` })).toBe(
      `127.0.0.1:${port} did not answer within 9 seconds.`,
    )
  })
})
