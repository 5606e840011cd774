import { inspect } from 'node:util'
import { crc32 } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AzureError } from '../../../test/support/azure-error.ts'
import { ACCOUNT_KEY, CONTAINER, makeSas } from '../../../test/support/azure-signatures.ts'
import { type AzureStorage, startAzureStorage } from '../../../test/support/azure-storage.ts'
import { days } from '../../platform/kernel/clock.ts'
import { createGuardedAgents } from '../../platform/net/guarded-agents.ts'
import { openBucket } from '../open-bucket.ts'
import { capabilitiesOf } from '../providers.ts'
import type { AzureCredentials } from './authorize-azure.ts'
import { objectionToBlob } from './blob-settings.ts'
import { readSas, showSas } from './sas.ts'

describe('a container of Azure Blob Storage', () => {
  const bytes = Buffer.from('hello')
  const body = { chunks: [bytes], bytes: bytes.length, crc32: crc32(bytes) }
  const target = { key: 'film', contentType: 'video/mp4', object: null }
  let azure: AzureStorage
  let clock: { ms: number; now(): number }
  beforeEach(async () => {
    clock = { ms: Date.now(), now: () => clock.ms }
    azure = await startAzureStorage(clock)
  })
  afterEach(() => azure.close())

  const leastSas = makeSas()
  function open(
    credentials: AzureCredentials = { sasToken: leastSas },
    storageClass: string | null = null,
    agents = createGuardedAgents(['*']),
  ) {
    const place = { endpoint: azure.endpoint, region: 'auto', bucket: CONTAINER, forcePathStyle: true }
    const capabilities = capabilitiesOf('azure', null)
    const deps = { clock, agents, retryDelaysMs: [0] }
    return openBucket({ ...place, storageClass, encryption: null, capabilities }, credentials, deps)
  }

  async function sendPart(bucket = open()) {
    const multipartId = await bucket.createMultipart(target)
    const { etag } = await bucket.uploadPart({ key: target.key, multipartId, number: 1 }, body)
    const parts = [{ number: 1, etag, crc32: body.crc32 }]
    return () => bucket.completeMultipart({ ...target, multipartId }, { ...body, parts })
  }
  const faultOf = (promise: Promise<unknown>) =>
    promise.then(
      () => undefined,
      (error) => error,
    )

  /** Ends the connection once the first request of this operation has taken effect. */
  function loseResponse(operation: string) {
    azure.after = (name, request) => {
      if (name !== operation) return
      azure.after = undefined
      request.socket.destroy()
    }
  }

  it('reports a blob that an unanswered request has created', async () => {
    const complete = await sendPart()
    loseResponse('PutBlockList')
    expect(await faultOf(complete())).toMatchObject({ kind: 'exists', attempts: 2 })
    loseResponse('PutBlob')
    expect(await open().putObject({ ...target, key: 'whole' }, body)).toEqual({ etag: null })
    expect(azure.blobs.get('whole')!.bytes.equals(bytes)).toBe(true)
  })

  it('reports blocks that a blob of somebody else has discarded, and those that are a week old', async () => {
    const complete = await sendPart()
    await open().putObject(target, body)
    expect(await faultOf(complete())).toMatchObject({ kind: 'exists' })
    azure.blobs.clear()
    expect(await faultOf(complete())).toMatchObject({ kind: 'no_such_upload', code: 'InvalidBlockList' })
    const late = await sendPart()
    clock.ms += days(7)
    expect(await faultOf(late())).toMatchObject({ kind: 'no_such_upload' })
  })

  it('gives all blocks ids of the same length, as Azure requires', async () => {
    const multipartId = await open().createMultipart(target)
    for (const number of [9, 10, 50_000])
      await open().uploadPart({ key: target.key, multipartId, number }, body)
    expect(azure.blocks.get('film')!.ids.size).toBe(3)
  })

  it('stores nothing if the bytes were damaged on their way', async () => {
    azure.damage = (sent) => Buffer.from(sent).fill(0, 0, 1)
    for (const sending of [open().putObject(target, body), sendPart()])
      expect(await faultOf(sending)).toMatchObject({ kind: 'damaged' })
    expect(azure.blobs.size + azure.blocks.size).toBe(0)
  })

  it('gives a blob its tier, tags and metadata, and replaces characters that Azure does not allow in tags', async () => {
    const object = { tags: { from: 'café @ 9:00' }, metadata: { scene: '1' }, storageClass: 'COOL' }
    const bucket = open({ storageAccountKey: ACCOUNT_KEY }, 'COLD')
    await bucket.putObject({ ...target, object }, body)
    expect(azure.blobs.get('film')!.headers).toMatchObject({
      'content-type': 'video/mp4',
      'x-ms-access-tier': 'Cool',
      'x-ms-meta-scene': '1',
      'x-ms-tags': 'from=caf_%20_%209%3A00',
    })
    await bucket.putObject({ ...target, key: 'other' }, body)
    expect(azure.blobs.get('other')!.headers).toMatchObject({ 'x-ms-access-tier': 'Cold' })
    const refused = await faultOf(open().putObject({ ...target, key: 'tagged', object }, body))
    expect(refused).toMatchObject({ kind: 'refused', code: 'AuthorizationPermissionMismatch' })
  })

  it('lists more blobs than fit into one response', async () => {
    const blob = { bytes, headers: {}, etag: '"1"', modifiedMs: clock.ms }
    for (let n = 0; n < 501; n++) azure.blobs.set(`in/${String(n).padStart(3, '0')}`, blob)
    const bucket = open({ sasToken: makeSas({ permissions: 'l' }) })
    const first = await bucket.listPage('in/', null)
    const second = await bucket.listPage('in/', first.next)
    expect([first.objects.length, second.objects.map(({ key }) => key), second.next]).toEqual([
      500,
      ['in/500'],
      null,
    ])
  })

  it.each<[string, () => AzureCredentials, object]>([
    [
      'another key',
      () => ({ storageAccountKey: Buffer.alloc(64).toString('base64') }),
      { code: 'AuthenticationFailed' },
    ],
    [
      'a changed SAS',
      () => ({ sasToken: leastSas.replace('sp=cw', 'sp=rcwl') }),
      { code: 'AuthenticationFailed' },
    ],
    [
      'too few permissions',
      () => ({ sasToken: makeSas({ permissions: 'c' }) }),
      { code: 'AuthorizationPermissionMismatch' },
    ],
    [
      'an expired SAS',
      () => ({ sasToken: makeSas({ expiresAt: '2020-01-01T00:00:00Z' }) }),
      { message: expect.stringContaining('The SAS has expired.') },
    ],
  ])('refuses %s, without showing a secret', async (_, credentials, expected) => {
    const given = credentials()
    const fault = await faultOf(sendPart(open(given)))
    expect(fault).toMatchObject({ kind: 'refused', ...expected })
    const secret =
      'sasToken' in given ? new URLSearchParams(given.sasToken).get('sig')! : Object.values(given)[0]
    const shown = inspect(fault, { depth: 20, showHidden: true })
    expect(shown).not.toContain(secret)
    expect(shown).not.toContain(encodeURIComponent(secret))
  })

  it('is not reached at a private address that the operator has not allowed', async () => {
    const fault = await faultOf(sendPart(open(undefined, null, createGuardedAgents([]))))
    expect(fault).toMatchObject({ kind: 'refused' })
    expect(azure.seen).toEqual([])
  })

  it.each([
    [503, 'ServerBusy', 'trouble'],
    [500, 'OperationTimedOut', 'trouble'],
    [409, 'BlobImmutableDueToPolicy', 'refused'],
    [403, 'UnauthorizedBlobOverwrite', 'exists'],
    [400, 'BlockCountExceedsLimit', 'impossible'],
  ])('treats %s %s as %s', async (status, code, kind) => {
    azure.before = () => {
      throw new AzureError(status, code)
    }
    expect(await faultOf(sendPart())).toMatchObject({ kind, code })
  })
})

it('accepts a SAS as it is copied, and shows its permissions and its expiry', () => {
  const sasToken = makeSas({ permissions: 'cw', expiresAt: '2027-06-01' })
  for (const text of [sasToken, `?${sasToken}`, `https://a.blob.core.windows.net/uploads?${sasToken}`])
    expect(readSas(text)).toEqual({ sasToken })
  expect(showSas(sasToken)).toEqual({ permissions: 'cw', expiresAt: '2027-06-01T00:00:00.000Z' })
  const account = 'sv=2022-11-02&ss=b&srt=o&sp=cw&se=2027-06-01&sig=x'
  expect(readSas(account)).toEqual({ sasToken: account })
})

it.each([
  ['sv=2022-11-02&sr=c&sp=cw&se=2027-06-01', 'sig='],
  ['sv=2022-11-02&sr=c&sp=cw&sig=x', 'expiry'],
  ['sv=2022-11-02&sr=c&sp=cw&se=never&sig=x', 'not a date'],
  ['sv=2022-11-02&sr=b&sp=cw&se=2027-06-01&sig=x', 'whole container'],
  ['sv=2022-11-02&ss=q&srt=o&sp=cw&se=2027-06-01&sig=x', 'whole container'],
  ['sv=2022-11-02&sr=c&sp=rl&se=2027-06-01&sig=x', 'only the permissions rl'],
])('does not accept %s as a SAS', (text, problem) => {
  expect(readSas(text)).toEqual({ problem: expect.stringContaining(problem) })
})

it.each([
  [
    { metadata: { scene_1: 'x' }, tags: { 'a b': 'x' }, storageClass: 'COLD', cacheControl: 'no-store' },
    undefined,
  ],
  [{ encryption: { type: 'SSE-S3' } as const }, undefined],
  [{ metadata: { 'scene-1': 'x' } }, 'metadata'],
  [{ metadata: { '1st': 'x' } }, 'metadata'],
  [{ tags: { größe: 'x' } }, 'tags'],
  [{ storageClass: 'STANDARD_IA' }, 'storageClass'],
  [{ encryption: { type: 'SSE-KMS', keyId: 'k' } as const }, 'encryption'],
])('says before an upload whether a blob can have %j', (object, setting) => {
  expect(objectionToBlob(object)?.setting).toBe(setting)
})
