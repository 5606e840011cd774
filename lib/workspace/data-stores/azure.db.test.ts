import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { ACCOUNT_KEY, CONTAINER, makeSas } from '../../../test/support/azure-signatures.ts'
import { type AzureStorage, startAzureStorage } from '../../../test/support/azure-storage.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { type TestRuntime, testRuntime } from '../../../test/support/runtime.ts'
import { createTestWorkspace, type TestWorkspace } from '../../../test/support/workspace.ts'
import { parseInput } from '../../platform/kernel/parse-input.ts'
import { createPipe } from '../pipes/create-pipe.ts'
import { pipeInput } from '../pipes/pipe.ts'
import { checkBucket, checkDataStore } from './check-data-store.ts'
import { createDataStore } from './create-data-store.ts'
import { openCredentials } from './credentials.ts'
import { dataStoreChanges, dataStoreInput } from './data-store.ts'
import { findDataStore } from './read-data-stores.ts'
import { updateDataStore } from './update-data-store.ts'

describeWithDatabase('a Data Store in Azure Blob Storage', (database) => {
  let runtime: TestRuntime
  let mine: TestWorkspace
  let azure: AzureStorage
  beforeAll(async () => {
    azure = await startAzureStorage({ now: () => runtime.clock.now() })
  })
  afterAll(() => azure.close())
  beforeEach(async () => {
    runtime = testRuntime(database())
    runtime.clock.advance(Date.now() - runtime.clock.now())
    mine = await createTestWorkspace(runtime)
  })
  afterEach(async () => {
    azure.blobs.clear()
    await database().db.execute(sql`delete from rate_limits`)
  })

  const sasToken = makeSas({ expiresAt: '2027-12-31' })
  const entered = (fields: object = { sasToken }) =>
    parseInput(dataStoreInput, {
      name: 'Azure',
      provider: 'azure',
      endpoint: azure.endpoint,
      bucket: CONTAINER,
      ...fields,
    })
  const check = (fields?: object) => checkBucket(runtime, mine.actor, entered(fields))

  it('has a SAS or an account key, sealed and never shown, but with its expiry', async () => {
    const made = await createDataStore(runtime, mine.actor, entered({ sasToken: `?${sasToken}` }))
    const sas = { permissions: 'cw', expiresAt: '2027-12-31T00:00:00.000Z' }
    expect(made).toMatchObject({ accessKeyId: expect.stringMatching(/^[0-9a-f]{16}$/), sas, region: 'auto' })
    const row = await findDataStore(database().db, mine.actor, made.id)
    const signature = new URLSearchParams(sasToken).get('sig')!
    expect(JSON.stringify([made, row])).not.toContain(signature)
    expect(openCredentials(runtime.vault, row)).toEqual({ sasToken })
    const change = (fields: object) =>
      updateDataStore(runtime, mine.actor, made.id, parseInput(dataStoreChanges, fields))
    expect(await change({ prefix: 'in/' })).toMatchObject({ accessKeyId: made.accessKeyId, sas })
    const withKey = await change({ storageAccountKey: ACCOUNT_KEY })
    expect(withKey).toMatchObject({ sas: null, serviceAccount: null })
    expect(withKey.accessKeyId).not.toBe(made.accessKeyId)
    expect(JSON.stringify(withKey)).not.toContain(ACCOUNT_KEY)
    const keys = { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'secret' }
    const moved = { provider: 'aws', region: 'eu-central-1' }
    await expect(change(moved)).rejects.toThrow('accessKeyId is required')
    expect(await change({ ...moved, ...keys })).toMatchObject({ accessKeyId: 'AKIAEXAMPLE', sas: null })
  })

  it.each<[string, object, string]>([
    ['no credentials', {}, 'sasToken is required'],
    ['an access key', { accessKeyId: 'A', secretAccessKey: 'b' }, 'use sasToken or storageAccountKey'],
    ['two kinds', { sasToken, storageAccountKey: ACCOUNT_KEY }, 'cannot be combined'],
    [
      'a SAS elsewhere',
      { provider: 'aws', region: 'eu-central-1', endpoint: undefined, sasToken },
      'only possible with the provider azure',
    ],
    ['a connection string', { storageAccountKey: `AccountKey=${ACCOUNT_KEY}` }, 'AccountKey='],
    ['half a SAS', { sasToken: 'sv=2022-11-02' }, 'is not a SAS'],
    ['no container name', { sasToken, bucket: 'My_Uploads' }, 'is not a container name'],
    ['a folder that ends in a dot', { sasToken, prefix: 'v1./' }, 'must not contain ./'],
    [
      'a path as endpoint',
      { sasToken, endpoint: 'https://a.blob.core.windows.net/b/c' },
      'must end after the host',
    ],
    ['no endpoint', { sasToken, endpoint: undefined }, 'https://<account>.blob.core.windows.net'],
    ['a storage class', { sasToken, storageClass: 'GLACIER' }, 'access tiers HOT, COOL, COLD, ARCHIVE'],
    [
      'a key of S3',
      { sasToken, encryption: { type: 'SSE-KMS', keyId: 'k' } },
      'keys are set for a container',
    ],
  ])('is not saved with %s, with the reason', async (_, fields, message) => {
    const creating = (async () => createDataStore(runtime, mine.actor, entered(fields)))()
    await expect(creating).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(message),
    })
  })

  it('needs create and write alone, and tells in words of Azure what works', async () => {
    const { ok, operations, policy, lifecycleRule } = await check()
    expect(ok).toBe(true)
    expect(operations).toEqual([
      { name: 'PutBlob', ok: true, message: 'Works. The SAS expires on 2027-12-31.' },
      { name: 'PutBlock', ok: true, message: 'Works.' },
      { name: 'PutBlockList', ok: true, message: 'Works.' },
      {
        name: 'GetBlob',
        ok: false,
        message: expect.stringMatching(/^Not needed\..*AuthorizationPermissionMismatch/),
      },
      { name: 'DeleteBlob', ok: false, message: expect.stringMatching(/^Not needed\./) },
    ])
    expect(policy).toContain('--account-name acmemedia --name uploads')
    expect(policy).toContain('--permissions cw')
    expect(JSON.parse(lifecycleRule!).rules[0].definition.filters.prefixMatch).toEqual([
      'uploads/.sluice-checks/',
    ])
    const all = await check({ storageAccountKey: ACCOUNT_KEY })
    expect(all).toMatchObject({ ok: true, operations: Array(5).fill({ ok: true }) })
    expect(all.lifecycleRule).toBeUndefined()
    expect([...azure.blobs.keys()].length).toBe(2)
  })

  it.each<[string, object, string]>([
    ['an expired SAS', { sasToken: makeSas({ expiresAt: '2020-01-01' }) }, 'The SAS has expired.'],
    ['another key', { storageAccountKey: Buffer.alloc(64).toString('base64') }, 'the key was rotated'],
    ['another container', { sasToken, bucket: 'elsewhere' }, 'does not accept the signature'],
    ['no container', { storageAccountKey: ACCOUNT_KEY, bucket: 'elsewhere' }, 'no container “elsewhere”'],
  ])('is checked with %s, which ends the check with what to do', async (_, fields, message) => {
    const { ok, operations } = await check(fields)
    expect(ok).toBe(false)
    expect(operations).toEqual([{ name: 'PutBlob', ok: false, message: expect.stringContaining(message) }])
  })

  it('remembers which permissions it may use', async () => {
    const { id } = await createDataStore(runtime, mine.actor, entered({ storageAccountKey: ACCOUNT_KEY }))
    await checkDataStore(runtime, mine.actor, id)
    const row = await findDataStore(database().db, mine.actor, id)
    expect(row).toMatchObject({ mayAbort: true, mayRead: true, mayDelete: true, found: {} })
  })

  it('rejects a Pipe with settings that blobs cannot have', async () => {
    const { id: dataStoreId } = await createDataStore(runtime, mine.actor, entered())
    const create = (object: object) =>
      createPipe(runtime, mine.actor, parseInput(pipeInput, { name: 'To Azure', dataStoreId, object }))
    await expect(create({ metadata: { 'scene-1': 'x' } })).rejects.toMatchObject({
      fields: [{ field: 'object.metadata', message: expect.stringContaining('scene-1') }],
    })
    expect(await create({ metadata: { scene_1: 'x' }, storageClass: 'COOL' })).toMatchObject({
      name: 'To Azure',
    })
  })
})
