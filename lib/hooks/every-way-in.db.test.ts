import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { describeWithDatabase } from '../../test/support/databases.ts'
import { type Decider, openDecider } from '../../test/support/decider.ts'
import { httpCall, openCall, type Reply } from '../../test/support/http-call.ts'
import { importOne, openSource, sendFile, startImporting } from '../../test/support/import-site.ts'
import { fileIdOf, metadata, type TusClient, tusCall } from '../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../test/support/upload-site.ts'
import { decideOnFile } from '../dashboard/files/act-on-files.ts'
import { showFile } from '../dashboard/files/show-file.ts'
import { rows } from '../platform/db/database.ts'
import { clearLeftovers } from '../recovery/clear-leftovers.ts'
import { reconcileUploads } from '../recovery/reconcile.ts'
import { decideFiles } from './decide-files.ts'
import { saveHook } from './pipe-hooks.ts'

const REASON = 'It has a virus.'
const TERMS = { decideMs: 300, pollMs: 20 }
const encoded = (result: unknown) => Buffer.from(JSON.stringify(result)).toString('base64url')

/** The decision and its result are the same for every protocol and source. */
describeWithDatabase('decisions', (database) => {
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  let decider: Decider
  let client: TusClient

  const hook = (of: Site) =>
    saveHook(
      of.runtime,
      of.actor,
      { pipeId: of.pipe.id, hook: 'before_complete' },
      { url: decider.url, enabled: true, timeoutSeconds: 1, withoutAnswer: 'refuse' },
    )

  beforeAll(async () => {
    decider = await openDecider()
    site = await createSite(database(), {
      pipe: { source: { http: true, url: true } },
      bucket: { actions: ['s3:PutObject', 's3:GetObject', 's3:DeleteObject', 's3:AbortMultipartUpload'] },
    })
    await database().db.execute(
      sql`update data_stores set may_read = true, may_delete = true, may_abort = true`,
    )
    node = await serveUploads(site.runtime, { terms: TERMS })
    await hook(site)
    client = await site.client(node)
  })
  beforeEach(() => decider.reset())
  afterAll(async () => {
    await node?.close()
    await decider?.close()
    await site?.close()
  })

  const problem = ({ status, body }: Reply) => [status, JSON.parse(body).code, JSON.parse(body).detail]
  const REJECTED = [403, 'upload_rejected', REASON]
  const allow = (id: string) => decideOnFile(site.runtime, site.actor, id, { allow: true, result: [1] })

  it('are returned for a file sent in one plain request', async () => {
    const put = (name: string) =>
      httpCall({ method: 'PUT', url: client.collection + name, token: client.token, body: randomBytes(500) })
    decider.answer = () => ({ allow: true, result: { n: 1 } })
    const allowed = await put('a')
    expect(allowed).toMatchObject({ status: 201, headers: { 'sluice-result': encoded({ n: 1 }) } })
    expect(JSON.parse(allowed.body)).toMatchObject({ status: 'transferred', size: 500, result: { n: 1 } })
    decider.answer = () => ({ allow: false, reason: REASON })
    expect(problem(await put('b'))).toEqual(REJECTED)
    decider.answer = () => ({ defer: true })
    const deferred = await put('c')
    expect([deferred.status, JSON.parse(deferred.body)]).toMatchObject([
      202,
      { status: 'transferring', size: 500 },
    ])
    const id = fileIdOf(deferred.headers.location!)
    await allow(id)
    await reconcileUploads(node.context)
    const result = await httpCall({
      method: 'GET',
      url: `${deferred.headers.location}/result`,
      token: client.token,
    })
    expect(JSON.parse(result.body)).toMatchObject({ status: 'transferred', decision: 'allowed', result: [1] })
  })

  it('are returned for a file sent with Resumable Uploads for HTTP', { tags: 'long' }, async () => {
    const version = { 'Upload-Draft-Interop-Version': '8' }
    const send = (method: string, url: string, body: Buffer, headers: Record<string, string>) =>
      httpCall({ method, url, token: client.token, body, headers: { ...version, ...headers } })
    const append = (url: string, from: number, body: Buffer) =>
      send('PATCH', url, body, {
        'Upload-Offset': String(from),
        'Upload-Complete': '?1',
        'Content-Type': 'application/partial-upload',
      })
    const begin = () => send('POST', client.collection, randomBytes(500), { 'Upload-Complete': '?0' })
    const head = (url: string) => httpCall({ method: 'HEAD', url, token: client.token, headers: version })
    // All bytes of the file arrive before its client declares it complete.
    const [first, second, third] = await Promise.all([begin(), begin(), begin()])
    expect(decider.asked).toHaveLength(0)
    decider.answer = () => ({ allow: true, result: 'ok' })
    const url = first.headers.location!
    expect(await append(url, 500, randomBytes(500))).toMatchObject({
      status: 201,
      headers: { 'upload-complete': '?1', 'sluice-result': encoded('ok') },
    })
    expect((await head(url)).headers).toMatchObject({
      'upload-complete': '?1',
      'sluice-result': encoded('ok'),
    })
    const whole = { 'Upload-Complete': '?0', 'Upload-Length': '500' }
    const early = (await send('POST', client.collection, randomBytes(500), whole)).headers.location!
    expect((await head(early)).headers).toMatchObject({ 'upload-complete': '?0', 'upload-offset': '499' })
    expect(await append(early, 499, Buffer.alloc(1))).toMatchObject({
      status: 201,
      headers: { 'upload-complete': '?1', 'sluice-result': encoded('ok') },
    })
    decider.answer = () => ({ allow: false, reason: REASON })
    const other = second.headers.location!
    expect(problem(await append(other, 500, randomBytes(500)))).toEqual(REJECTED)
    expect((await head(other)).headers).toMatchObject({ 'upload-complete': '?0', 'upload-offset': '999' })
    expect(problem(await append(other, 999, Buffer.alloc(1)))).toEqual(REJECTED)
    decider.answer = () => ({ defer: true })
    const waiting = third.headers.location!
    const deferred = { status: 202, headers: { 'upload-complete': '?0', 'upload-offset': '999' } }
    expect(await append(waiting, 500, randomBytes(500))).toMatchObject(deferred)
    expect(await append(waiting, 999, Buffer.alloc(1))).toMatchObject(deferred)
    await allow(fileIdOf(waiting))
    await reconcileUploads(node.context)
    expect((await append(waiting, 999, Buffer.alloc(1))).status).toBe(201)
  })

  it('keep the last byte out of the progress reported by Resumable Uploads for HTTP', async () => {
    const patient = await serveUploads(site.runtime, { terms: { ...TERMS, decideMs: 30_000 } })
    const { collection: url, token } = await site.client(patient)
    decider.answer = () => ({ defer: true })
    const headers = {
      'Upload-Draft-Interop-Version': '8',
      'Upload-Complete': '?1',
      'Content-Length': '500',
    }
    const upload = openCall({ method: 'POST', url, token, headers })
    await upload.write(randomBytes(500))
    const offsets = () => upload.interim.flatMap(({ headers }) => headers['upload-offset'] ?? [])
    await expect.poll(offsets, { timeout: 10_000 }).toEqual(['499'])
    await allow(fileIdOf(String(upload.interim[0]!.headers.location)))
    await reconcileUploads(patient.context)
    expect((await upload.reply).headers).toMatchObject({ 'upload-complete': '?1', 'upload-offset': '500' })
    await patient.close()
  })

  const byDraft = (method: string, url: string, headers: Record<string, string> = {}) =>
    httpCall({
      method,
      url,
      token: client.token,
      headers: { 'Upload-Draft-Interop-Version': '8', ...headers },
    })
  it.each([
    ['TUS', 423, () => client.create(0), (url: string) => client.head(url)],
    [
      'Resumable Uploads for HTTP',
      503,
      () => byDraft('POST', client.collection, { 'Upload-Complete': '?1' }),
      (url: string) => byDraft('HEAD', url),
    ],
  ] as const)(
    'are returned for an empty file sent with %s, which only looks complete once it is allowed',
    { tags: 'long' },
    async (_, later, create, head) => {
      const createdAs = async () => {
        const { status } = await create()
        const newest = sql`select id from files order by id desc limit 1`
        const [{ id }] = (await rows<{ id: string }>(database().db, newest)) as [{ id: string }]
        return { status, id, headStatus: async () => (await head(client.collection + id)).status }
      }
      decider.answer = () => ({ allow: false, reason: REASON })
      const refused = await createdAs()
      expect([refused.status, await refused.headStatus()]).toEqual([403, 403])
      decider.answer = () => ({ defer: true })
      const waiting = await createdAs()
      expect(await waiting.headStatus()).toBe(later)
      // As if its node had died before all bytes were recorded, of which there are none.
      const become = (status: string) =>
        database().db.execute(sql`update files set status = ${status} where id = ${waiting.id}::uuid`)
      await become('uploading')
      expect(await waiting.headStatus()).toBe(later === 423 ? 423 : 204)
      await become('transferring')
      await allow(waiting.id)
      await reconcileUploads(node.context)
      expect([200, 204]).toContain(await waiting.headStatus())
    },
  )

  const appendEnd = {
    TUS: (url: string) => client.patch(url, 500, Buffer.alloc(0), { 'Upload-Length': '500' }),
    'Resumable Uploads for HTTP': (url: string) =>
      byDraft('PATCH', url, {
        'Upload-Offset': '500',
        'Upload-Complete': '?1',
        'Content-Type': 'application/partial-upload',
      }),
  }
  it.each([
    [
      'TUS',
      { status: 423, undecided: { 'upload-defer-length': '1' }, allowed: { 'upload-length': '500' } },
      async () => {
        const url = await client.begin(null)
        await client.patch(url, 0, randomBytes(500))
        return url
      },
    ],
    [
      'Resumable Uploads for HTTP',
      { status: 503, undecided: { 'upload-complete': '?0' }, allowed: { 'upload-complete': '?1' } },
      async () => {
        const headers = { 'Upload-Draft-Interop-Version': '8', 'Upload-Complete': '?0' }
        const { collection: url, token } = client
        const created = await httpCall({ method: 'POST', url, token, body: randomBytes(500), headers })
        return created.headers.location!
      },
    ],
  ] as const)(
    'are returned for a file sent with %s whose length is declared after the last byte',
    { tags: 'long' },
    async (protocol, told, begin) => {
      const end = appendEnd[protocol]
      const head = async (url: string) => (protocol === 'TUS' ? client.head(url) : byDraft('HEAD', url))
      decider.answer = () => ({ allow: false, reason: REASON })
      const bad = await begin()
      expect(problem(await end(bad))).toEqual(REJECTED)
      expect((await head(bad)).headers).toMatchObject({ 'upload-offset': '500', ...told.undecided })
      expect(problem(await end(bad))).toEqual(REJECTED)
      decider.answer = () => ({ defer: true })
      const good = await begin()
      for (const _ of ['first', 'again']) {
        expect((await end(good)).status).toBe(told.status)
        // The offset must stay at the end, because the client may no longer have the last byte.
        const { headers } = await head(good)
        expect(headers).toMatchObject({ 'upload-offset': '500', ...told.undecided })
        expect(headers['upload-length']).toBeUndefined()
      }
      await allow(fileIdOf(good))
      await reconcileUploads(node.context)
      expect([201, 204]).toContain((await end(good)).status)
      expect((await head(good)).headers).toMatchObject({ 'upload-offset': '500', ...told.allowed })
    },
  )

  it('are made for an import from a URL, once the entire file has arrived', async () => {
    const bytes = randomBytes(500)
    const source = await openSource((req, res) => sendFile(req, res, { bytes, etag: '"one"' }))
    const worker = await startImporting(site)
    const states = async (ids: string[]) =>
      Promise.all(ids.map(async (id) => (await showFile(site.runtime, site.actor, id)).decision?.state))
    decider.answer = ({ data }) => ({ allow: data.filename === 'good', reason: REASON })
    const ids = await Promise.all(
      ['good', 'bad'].map((name) => importOne(site, { url: `${source.url}/${name}` })),
    )
    await expect.poll(() => states(ids), { timeout: 20_000 }).toEqual(['asked', 'asked'])
    await decideFiles(node.context)
    await Promise.all(node.context.background)
    expect(await states(ids)).toEqual(['allowed', 'rejected'])
    const objects = await site.bucket.objects()
    expect(ids.map((id) => objects.some((key) => key.startsWith(id)))).toEqual([true, false])
    await worker.stop()
    await source.close()
  })

  it('are made for joined uploads, once the entire file has arrived', { tags: 'long' }, async () => {
    const before = await site.bucket.objects()
    const joined = async (name: string) => {
      const urls: string[] = []
      for (const bytes of [randomBytes(500), randomBytes(500)]) {
        const url = await client.begin(500, { 'Upload-Concat': 'partial' })
        expect((await client.patch(url, 0, bytes)).status).toBe(204)
        urls.push(url)
      }
      expect(decider.asked).toHaveLength(0)
      const headers = {
        'Upload-Concat': `final;${urls.join(' ')}`,
        'Upload-Metadata': metadata({ filename: name }),
      }
      return () => tusCall({ method: 'POST', url: client.collection, token: client.token, headers })
    }
    decider.answer = () => ({ allow: true, result: 'joined' })
    const post = await joined('a')
    const made = await post()
    expect(made).toMatchObject({ status: 201, headers: { 'sluice-result': encoded('joined') } })
    expect(decider.questions()).toMatchObject([{ data: { filename: 'a', size: 1000 } }])
    expect(await site.bucket.objects()).toContain(`${fileIdOf(made.headers.location!)}/a`)
    expect((await post()).headers.location).toBe(made.headers.location)
    expect(await client.offset(made.headers.location!)).toBe(1000)
    expect(decider.asked).toHaveLength(1)

    decider.reset()
    const second = await joined('b')
    decider.answer = () => ({ allow: false, reason: REASON })
    expect(problem(await second())).toEqual(REJECTED)
    expect(problem(await second())).toEqual(REJECTED)
    expect(decider.asked).toHaveLength(1)

    decider.reset()
    const third = await joined('c')
    decider.answer = () => ({ defer: true })
    expect((await third()).status).toBe(423)
    await allow(decider.questions()[0]!.data.file_id as string)
    await reconcileUploads(node.context)
    expect(await third()).toMatchObject({ status: 201, headers: { 'sluice-result': encoded([1]) } })
    site.clock.advance(120_000)
    while ((await clearLeftovers(node.context)) > 0);
    const left = (await site.bucket.objects()).filter((key) => !before.includes(key))
    expect(left.map((key) => key.split('/')[1]).sort()).toEqual(['a', 'c'])
    client = await site.client(node)
  })

  it.each([1000, 20 * 1024 * 1024])(
    'are made for a file of %i bytes with several destinations',
    { tags: 'long' },
    async (size) => {
      const several = await createSite(database(), {
        copies: [{ required: true }, { required: false }],
        bucket: { actions: ['s3:PutObject', 's3:AbortMultipartUpload'] },
      })
      const own = await serveUploads(several.runtime, { terms: TERMS })
      await hook(several)
      const buckets = [several.bucket, ...several.copies.map(({ bucket }) => bucket)]
      const body = randomBytes(size)
      const uploader = await several.client(own)
      const url = await uploader.begin(size)
      decider.answer = async () => {
        for (const bucket of buckets) expect(await bucket.objects()).toEqual([])
        return { allow: true }
      }
      expect((await uploader.patch(url, 0, body)).status).toBe(204)
      await Promise.all(own.context.background)
      for (const bucket of buckets)
        expect((await bucket.object(`${fileIdOf(url)}/file`)).equals(body)).toBe(true)
      decider.answer = () => ({ allow: false, reason: REASON })
      const rejected = await uploader.begin(size)
      expect(problem(await uploader.patch(rejected, 0, body))).toEqual(REJECTED)
      for (const bucket of buckets) expect(await bucket.objects()).toHaveLength(1)
      await own.close()
      await several.close()
    },
  )
})
