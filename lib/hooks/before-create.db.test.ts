import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { describeWithDatabase } from '../../test/support/databases.ts'
import { type Decider, openDecider } from '../../test/support/decider.ts'
import { httpCall, type Reply } from '../../test/support/http-call.ts'
import { fileIdOf, metadata, type TusClient, tusCall } from '../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../test/support/upload-site.ts'
import { showFile } from '../dashboard/files/show-file.ts'
import { rows } from '../platform/db/database.ts'
import { saveHook } from './pipe-hooks.ts'
import { questionSchema } from './question-schemas.ts'

describeWithDatabase('before_create', (database) => {
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  let decider: Decider
  let client: TusClient

  const save = (more = {}) =>
    saveHook(
      site.runtime,
      site.actor,
      { pipeId: site.pipe.id, hook: 'before_create' },
      { url: decider.url, enabled: true, timeoutSeconds: 1, withoutAnswer: 'refuse', ...more },
    )

  beforeAll(async () => {
    site = await createSite(database(), { pipe: { object: { tokensMaySet: ['cacheControl'] } } })
    node = await serveUploads(site.runtime)
    decider = await openDecider()
    await save()
    client = await site.client(node, { subject: 'ada', metadata: { order: '7' }, keyPrefix: 'in' })
  })
  beforeEach(() => decider.reset())
  afterAll(async () => {
    await node?.close()
    await decider?.close()
    await site?.close()
  })

  const create = (pairs: Record<string, string>, body?: Buffer) =>
    client.create(1000, { 'Upload-Metadata': metadata(pairs) }, body)
  const problem = ({ status, body }: Reply) => [status, JSON.parse(body).code, JSON.parse(body).detail]
  const files = async () =>
    (await rows<{ files: number }>(database().db, sql`select count(*)::int as files from files`))[0]!.files

  it('gets the declared values, and may rename the file', async () => {
    decider.answer = () => ({
      allow: true,
      filename: 'renamed.mp4',
      keyPrefix: 'films/2026/',
      metadata: { film: '12', order: '8' },
      object: { cacheControl: 'no-store', contentDisposition: 'inline' },
    })
    const { headers } = await create({ filename: 'film.mp4', filetype: 'video/mp4', scene: '3' })
    const id = fileIdOf(headers.location!)
    questionSchema('before_create').parse(decider.questions()[0])
    expect(decider.questions()).toMatchObject([
      {
        id: `before_create-${id}`,
        hook: 'before_create',
        data: {
          pipe_id: site.pipe.id,
          file_id: id,
          filename: 'film.mp4',
          filetype: 'video/mp4',
          size: 1000,
          sender: 'Backend',
          protocol: 'tus',
          subject: 'ada',
          metadata: { order: '7' },
          uploadMetadata: { scene: '3' },
          token: { keyPrefix: 'in' },
        },
      },
    ])
    expect((await client.patch(headers.location!, 0, randomBytes(1000))).status).toBe(204)
    const file = await showFile(site.runtime, site.actor, id)
    expect(file).toMatchObject({
      status: 'transferred',
      filename: 'renamed.mp4',
      metadata: { film: '12', order: '8' },
      // The Pipe does not let anyone set the disposition.
      object: { cacheControl: 'no-store' },
      destinations: [{ key: `films/2026/${id}/renamed.mp4` }],
    })
    const stored = sql`select hook, state from file_decisions where file_id = ${id}::uuid`
    expect(await rows(database().db, stored)).toEqual([{ hook: 'before_create', state: 'allowed' }])
  })

  it('is asked about a joined file, but not about its pieces', async () => {
    await database().db.execute(
      sql`update data_stores set may_read = true, may_delete = true, updated_at = now()`,
    )
    const piece = await client.create(3, { 'Upload-Concat': 'partial' }, Buffer.from('abc'))
    expect(decider.questions()).toEqual([])
    const joined = await tusCall({
      method: 'POST',
      url: client.collection,
      token: client.token,
      headers: { 'Upload-Concat': `final;${piece.headers.location}` },
    })
    const id = fileIdOf(joined.headers.location!)
    expect(decider.questions()).toMatchObject([{ data: { file_id: id, size: 3 } }])
    const stored = sql`select hook, state from file_decisions where file_id = ${id}::uuid`
    expect(await rows(database().db, stored)).toEqual([{ hook: 'before_create', state: 'allowed' }])
  })

  it('refuses an upload before it starts, with its own status and reason, in every protocol', async () => {
    decider.answer = () => ({ allow: false, reason: 'Not today.', status: 422 })
    const before = await files()
    const put = httpCall({
      method: 'PUT',
      url: `${client.collection}a`,
      token: client.token,
      body: randomBytes(10),
    })
    const draft = httpCall({
      method: 'POST',
      url: client.collection,
      token: client.token,
      body: randomBytes(10),
      headers: { 'Upload-Complete': '?1', 'Upload-Draft-Interop-Version': '8' },
    })
    for (const reply of [await create({}), await create({}, randomBytes(1000)), await put, await draft])
      expect(problem(reply)).toEqual([422, 'upload_rejected', 'Not today.'])
    expect((await draft).headers['upload-complete']).toBe('?1')
    expect(await files()).toBe(before)
    decider.answer = () => ({ allow: false })
    expect(problem(await create({}))).toEqual([
      403,
      'upload_rejected',
      'Uploads like this are not allowed here.',
    ])
  })

  it.each([
    ['a status after which clients retry', { allow: false, status: 423 }],
    ['a name outside its prefix', { allow: true, keyPrefix: '../other' }],
    ['an unknown field', { allow: true, bucket: 'other' }],
    ['a name that cannot be stored', { allow: true, filename: 'a\ud800.txt' }],
  ])('does not accept %s as an answer', async (_, answer) => {
    decider.answer = () => answer
    expect(problem(await create({})).slice(0, 2)).toEqual([503, 'unavailable'])
    expect(decider.asked).toHaveLength(5)
  })

  it('lets clients retry while nobody answers, or allows uploads, depending on its settings', async () => {
    decider.answer = (_, res) => void res.destroy()
    const before = await files()
    expect(await create({})).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
    expect(await files()).toBe(before)
    await save({ withoutAnswer: 'allow' })
    expect((await create({})).status).toBe(201)
    await save()
  })

  it('is not asked about uploads that the Pipe or the token already refuses', async () => {
    const limited = await site.client(node, { maxBytes: 10 })
    expect((await limited.create(1000)).status).toBe(413)
    expect(decider.asked).toEqual([])
  })
})
