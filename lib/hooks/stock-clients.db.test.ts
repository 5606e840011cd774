import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { DetailedError, Upload, type UploadOptions } from 'tus-js-client'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { describeWithDatabase } from '../../test/support/databases.ts'
import { type Decider, openDecider } from '../../test/support/decider.ts'
import { dropResponses } from '../../test/support/http-proxies.ts'
import { createSite, type Site, serveUploads } from '../../test/support/upload-site.ts'
import { decideOnFile } from '../dashboard/files/act-on-files.ts'
import { listFiles } from '../dashboard/files/list-files.ts'
import { reconcileUploads } from '../recovery/reconcile.ts'
import { saveHook } from './pipe-hooks.ts'

const REASON = 'It has a virus.'
const BYTES = 300_000
/** The ways in which tus-js-client sends a file. */
const WAYS: [string, Partial<UploadOptions>][] = [
  ['in one request', {}],
  ['with its creation', { uploadDataDuringCreation: true }],
  ['in chunks', { chunkSize: 100_000 }],
  ['with its length declared last', { uploadLengthDeferred: true, chunkSize: 100_000 }],
  ['in pieces that are joined', { parallelUploads: 2 }],
]

/** In each test, the first response to the request that completes the file is lost. */
describeWithDatabase('tus-js-client, with the last response dropped', (database) => {
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  let decider: Decider
  let line: ReturnType<typeof dropResponses>

  beforeAll(async () => {
    decider = await openDecider()
    site = await createSite(database(), {
      bucket: { actions: ['s3:PutObject', 's3:GetObject', 's3:DeleteObject'] },
    })
    await database().db.execute(sql`update data_stores set may_read = true, may_delete = true`)
    node = await serveUploads(site.runtime, { terms: { decideMs: 5000, pollMs: 20 } })
    line = dropResponses(node.server, () => decider.asked.length > 0)
    const hook = { url: decider.url, enabled: true, timeoutSeconds: 5, withoutAnswer: 'refuse' as const }
    await saveHook(site.runtime, site.actor, { pipeId: site.pipe.id, hook: 'before_complete' }, hook)
  })
  beforeEach(() => {
    decider.reset()
    line.drop(2)
  })
  afterAll(async () => {
    await node?.close()
    await decider?.close()
    await site?.close()
  })

  async function upload(way: Partial<UploadOptions>, body: Buffer) {
    const token = await site.token()
    const results: (string | undefined)[] = []
    const { promise, resolve } = Promise.withResolvers<{ error?: Error; objects: string[] }>()
    const end = async (error?: Error) =>
      resolve({ objects: await site.bucket.objects(), ...(error && { error }) })
    const uploading = new Upload(body, {
      endpoint: `${node.url}/pipes/${site.pipe.id}/files/`,
      headers: { Authorization: `Bearer ${token}` },
      retryDelays: [0, 0, 0, 0],
      onAfterResponse: (_, response) => void results.push(response.getHeader('Sluice-Result')),
      onSuccess: () => void end(),
      onError(error) {
        // tus-js-client does not repeat the request that joins uploads, so the page starts it again.
        if (way.parallelUploads && !(error instanceof DetailedError && error.originalResponse))
          uploading.start()
        else void end(error)
      },
      ...way,
    })
    uploading.start()
    return { ...(await promise), result: results.at(-1) }
  }
  const newest = async () => (await listFiles(site.runtime, site.actor, { limit: 1 })).data[0]!
  const files = async () => (await listFiles(site.runtime, site.actor, { limit: 100 })).data.length

  it.each(WAYS)('a file sent %s is reported as done only when its object exists', async (_, way) => {
    decider.answer = () => ({ allow: true, result: 42 })
    const before = await files()
    const { error, objects, result } = await upload(way, randomBytes(BYTES))
    expect(error).toBeUndefined()
    expect(result).toBe(Buffer.from('42').toString('base64url'))
    const { id, status } = await newest()
    expect(status).toBe('transferred')
    expect(objects).toContain(`${id}/file`)
    expect(line.dropped).toBe(2)
    // A creation whose response is lost is repeated, because the client does not know where to continue.
    expect(await files()).toBe(before + (way.uploadDataDuringCreation ? 3 : 1))
  })

  it.each(WAYS)(
    'a file sent %s is reported as rejected, with its reason, and is not sent again',
    async (_, way) => {
      decider.answer = () => ({ allow: false, reason: REASON })
      const before = await files()
      const { error, objects } = await upload(way, randomBytes(BYTES))
      const { id, status, decision } = await newest()
      expect({ status, decision }).toMatchObject({ status: 'failed', decision: { reason: REASON } })
      expect(objects).not.toContain(`${id}/file`)
      expect(error).toBeInstanceOf(DetailedError)
      const response = (error as DetailedError).originalResponse!
      expect([response.getStatus(), JSON.parse(response.getBody()).detail]).toEqual([403, REASON])
      expect(await files()).toBe(before + (way.uploadDataDuringCreation ? 3 : 1))
    },
  )

  it('a deferred file continues automatically once it is decided', async () => {
    decider.answer = () => ({ defer: true })
    line.drop(0)
    const uploading = upload({}, randomBytes(BYTES))
    await decider.gets(1)
    await expect.poll(async () => (await newest()).decision?.state).toBe('deferred')
    await decideOnFile(site.runtime, site.actor, (await newest()).id, { allow: true, result: 1 })
    await reconcileUploads(node.context)
    const { error, objects } = await uploading
    expect(error).toBeUndefined()
    expect(objects).toContain(`${(await newest()).id}/file`)
  })
})
