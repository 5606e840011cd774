import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { eq } from 'drizzle-orm'
import { Upload } from 'tus-js-client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { tokens } from '#drizzle/schema/index.ts'
import { describeWithDatabase } from '../../test/support/databases.ts'
import { type Decider, openDecider } from '../../test/support/decider.ts'
import { fileIdOf, metadata, tusCall } from '../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../test/support/upload-site.ts'
import { showFile } from '../dashboard/files/show-file.ts'
import { saveHook } from '../hooks/pipe-hooks.ts'
import { hashSecret } from '../platform/kernel/ids.ts'
import { parseInput } from '../platform/kernel/parse-input.ts'
import { reconcileUploads } from '../recovery/reconcile.ts'
import { cancelUpload, endingContext } from '../uploads/endings/end-upload.ts'
import { createPipe } from '../workspace/pipes/create-pipe.ts'
import { pipeInput } from '../workspace/pipes/pipe.ts'
import { revokeSender } from '../workspace/senders/change-sender.ts'
import { createSender } from '../workspace/senders/create-sender.ts'
import { backendUploadInput, createBackendUpload } from './create-backend-upload.ts'

const BYTES = 300_000

describeWithDatabase('an upload that a backend creates', (database) => {
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  let decider: Decider

  beforeAll(async () => {
    decider = await openDecider()
    site = await createSite(database(), { pipe: { keyTemplate: '{file_id}/{path}/{filename}' } })
    node = await serveUploads(site.runtime)
  })
  afterAll(async () => {
    await node?.close()
    await decider?.close()
    await site?.close()
  })

  const create = async (fields: Record<string, unknown> = {}, senderToken = site.sender.token) => {
    const asked = { pipeId: site.pipe.id, filename: 'a.bin', size: BYTES, ...fields }
    const made = await createBackendUpload(site.runtime, senderToken, parseInput(backendUploadInput, asked))
    const url = new URL(made.uploadUrl)
    return { ...made, uploadUrl: `${node.url}${url.pathname}` }
  }
  type Made = Awaited<ReturnType<typeof create>>
  const call = (method: string, { uploadUrl, token }: Pick<Made, 'uploadUrl' | 'token'>, more = {}) =>
    tusCall({ method, url: uploadUrl, token, headers: more })
  const send = ({ uploadUrl, token }: Made, body: Buffer, options = {}) =>
    new Promise<void>((resolve, reject) => {
      const headers = { Authorization: `Bearer ${token}` }
      new Upload(body, {
        uploadUrl,
        headers,
        onSuccess: () => resolve(),
        onError: reject,
        ...options,
      }).start()
    })
  const shown = ({ fileId }: Made) => showFile(site.runtime, site.actor, fileId)

  it('can be sent by tus-js-client with just its address and token', async () => {
    const body = randomBytes(BYTES)
    const made = await create({
      filename: 'übersicht.pdf',
      filetype: 'application/pdf',
      path: '2026/may/übersicht.pdf',
      subject: 'ada',
      metadata: { order: '17' },
      checksum: `crc32:${crc32(body).toString(16).padStart(8, '0')}`,
    })
    await send(made, body, { metadata: { filename: 'another.exe' } })
    expect(await shown(made)).toMatchObject({
      status: 'transferred',
      filename: 'übersicht.pdf',
      filetype: 'application/pdf',
      subject: 'ada',
      metadata: { order: '17' },
      uploadMetadata: { relativePath: '2026/may/übersicht.pdf' },
      protocol: 'tus',
    })
    const object = await site.bucket.object(`${made.fileId}/2026/may/übersicht.pdf`)
    expect(object.equals(body)).toBe(true)
    const head = await call('HEAD', made)
    expect(head.headers['upload-metadata']).toContain(
      `filename ${Buffer.from('übersicht.pdf').toString('base64')}`,
    )
  })

  it('may have its length declared last, and fails if its checksum differs from the declared one', async () => {
    const made = await create({ size: undefined })
    await send(made, randomBytes(BYTES), { uploadLengthDeferred: true, chunkSize: 100_000 })
    expect(await shown(made)).toMatchObject({ status: 'transferred', size: BYTES })
    const other = await create({ checksum: 'crc32:00000001' })
    await expect(send(other, randomBytes(BYTES), { retryDelays: [] })).rejects.toThrow('460')
    expect(await shown(other)).toMatchObject({ status: 'failed', failureReason: 'checksum_mismatch' })
  })

  it('is finished without any client request if it has zero bytes', async () => {
    const made = await create({ size: 0 })
    await reconcileUploads(node.context)
    await Promise.all(node.context.background)
    expect((await shown(made)).status).toBe('transferred')
  })

  it('has a token that is only valid for this upload', async () => {
    const [made, other] = await Promise.all([create({ subject: 'ada' }), create({ subject: 'ada' })])
    const refused = await call(
      'POST',
      { ...made, uploadUrl: `${node.url}/pipes/${site.pipe.id}/files/` },
      {
        'Upload-Length': '5',
        'Upload-Metadata': metadata({ filename: 'a.bin' }),
      },
    )
    expect([refused.status, JSON.parse(refused.body).code]).toEqual([401, 'token_expired'])
    const crossed = await call('HEAD', { ...made, uploadUrl: other.uploadUrl })
    expect(crossed.status).toBe(401)
    site.clock.advance(2 * 86_400_000)
    expect((await call('HEAD', made)).status).toBe(200)
    expect((await call('DELETE', made)).status).toBe(204)
    expect((await call('HEAD', made)).status).toBe(410)
    expect((await call('HEAD', other)).status).toBe(200)
  })

  it('loses its token when its Sender is revoked, and can be canceled by its owner', async () => {
    const sender = await createSender(site.runtime, site.actor, { name: 'Leaving' })
    const made = await create({}, sender.token)
    await revokeSender(site.runtime, site.actor, sender.id)
    expect((await call('HEAD', made)).status).toBe(401)
    const { fileId } = await create()
    await cancelUpload(endingContext(site.runtime), { fileId, workspaceId: site.workspaceId })
    expect((await showFile(site.runtime, site.actor, fileId)).status).toBe('canceled')
  })

  it('asks for a hook decision once it is complete, but not before it starts', async () => {
    const hook = { url: decider.url, enabled: true, timeoutSeconds: 1, withoutAnswer: 'refuse' as const }
    for (const name of ['before_create', 'before_complete'] as const)
      await saveHook(site.runtime, site.actor, { pipeId: site.pipe.id, hook: name }, hook)
    decider.answer = () => ({ allow: true, result: { page: 3 } })
    const made = await create()
    expect(decider.asked).toHaveLength(0)
    await send(made, randomBytes(BYTES))
    expect(decider.questions()).toMatchObject([{ hook: 'before_complete', data: { file_id: made.fileId } }])
    expect((await shown(made)).decision).toMatchObject({ state: 'allowed', result: { page: 3 } })
  })

  it.each([
    [{ source: { http: false, sftp: true } }, {}, { code: 'pipe_source_off', status: 409 }],
    [{ source: { http: false, url: true } }, {}, { code: 'pipe_source_off', status: 409 }],
    [{ allowedTypes: ['image/*'] }, { filetype: 'text/plain' }, { code: 'type_not_allowed', status: 403 }],
    [{ maxFileBytes: 10 }, {}, { code: 'file_too_large', status: 413 }],
    [{ requireSubject: true }, {}, { code: 'invalid_request', status: 400 }],
  ])('is refused by a Pipe with %o, and leaves no token', async (limits, fields, refusal) => {
    const input = { name: 'Strict', dataStoreId: site.dataStore.id, source: { http: true }, ...limits }
    const pipe = await createPipe(site.runtime, site.actor, parseInput(pipeInput, input))
    await expect(create({ pipeId: pipe.id, ...fields })).rejects.toMatchObject(refusal)
    expect(await database().db.$count(tokens, eq(tokens.pipeId, pipe.id))).toBe(0)
  })

  it('counts toward its token, which is stored hashed', async () => {
    const made = await create()
    const [row] = await database()
      .db.select()
      .from(tokens)
      .where(eq(tokens.tokenHash, hashSecret(made.token)))
    expect(row).toMatchObject({ filesCreated: 1 })
    expect(fileIdOf(made.uploadUrl)).toBe(made.fileId)
  })
})
