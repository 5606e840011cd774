import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { describeWithDatabase, holdTransaction } from '../../test/support/databases.ts'
import { httpCall } from '../../test/support/http-call.ts'
import { fileIdOf, metadata, type TusClient, tusCall } from '../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../test/support/upload-site.ts'
import { backendUploadInput, createBackendUpload } from '../backend-uploads/create-backend-upload.ts'
import { eraseFile } from '../dashboard/files/act-on-files.ts'
import { listFiles } from '../dashboard/files/list-files.ts'
import { showFile } from '../dashboard/files/show-file.ts'
import { eventSchema } from '../events/event-schemas.ts'
import { listAudit } from '../identity/audit/list-audit.ts'
import { rows } from '../platform/db/database.ts'
import { parseInput } from '../platform/kernel/parse-input.ts'
import { expireUploads } from '../recovery/upload-sweeps.ts'
import { endingContext, endUpload } from '../uploads/endings/end-upload.ts'
import { joinBatches } from '../uploads/ledger/batches.ts'
import { batchOf as batchNamed } from '../uploads/rules/batch.ts'
import { createOutput } from '../webhooks/outputs/save-output.ts'
import { outputInput } from '../webhooks/outputs/webhook-output.ts'
import { showBatch } from './batch.ts'
import { completeBatches } from './complete-batches.ts'
import { sealBatch, sealNamedBatch, sealOwnBatch } from './seal-batch.ts'

const BYTES = 1000
type Told = { payload: string; deliveries: number }

describeWithDatabase('a batch', (database) => {
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  beforeAll(async () => {
    site = await createSite(database(), {
      bucket: { actions: ['s3:PutObject', 's3:GetObject', 's3:DeleteObject'] },
    })
    await database().db.execute(sql`update data_stores set may_read = true, may_delete = true`)
    node = await serveUploads(site.runtime)
    const asked = { url: 'http://127.0.0.1:1/hook', events: ['batch.completed'] }
    await createOutput(site.runtime, site.actor, {}, parseInput(outputInput, asked))
  })
  afterAll(async () => {
    await node?.close()
    await site?.close()
  })

  /** Returns the batch events that were written since the last call. */
  let seen = 0
  async function told() {
    await completeBatches(site.runtime)
    const all = await rows<Told>(
      database().db,
      sql`select e.payload, (select count(*)::int from deliveries d where d.event_id = e.id) as deliveries
        from events e where e.workspace_id = ${site.workspaceId}::uuid and e.kind = 'batch.completed' order by e.id`,
    )
    const since = all.slice(seen)
    seen = all.length
    expect(since.every(({ deliveries }) => deliveries === 1)).toBe(true)
    return since.map(({ payload }) => eventSchema('batch.completed').strict().parse(JSON.parse(payload)).data)
  }
  const sealing = (client: TusClient, name?: string) =>
    tusCall({
      method: 'POST',
      url: client.collection.replace(/files\/$/, 'batches/seal'),
      token: client.token,
      headers: name === undefined ? {} : { 'Upload-Metadata': metadata({ batch: name }) },
    })
  const begin = (client: TusClient, name?: string, length: number | null = BYTES) =>
    client.begin(length, { 'Upload-Metadata': metadata({ filename: 'a', ...(name && { batch: name }) }) })
  const finish = async (client: TusClient, url: string) =>
    expect((await client.patch(url, 0, randomBytes(BYTES))).status).toBe(204)
  const batchOf = async (url: string) => (await showFile(site.runtime, site.actor, fileIdOf(url))).batch

  it('is reported once, with its counts and files, when it is sealed and all files have ended', async () => {
    const client = await site.client(node, { subject: 'ada' })
    const urls = []
    for (let n = 0; n < 5; n += 1) urls.push(await begin(client, 'holidays'))
    const [sent, canceled, failed, expired, open] = urls as [string, string, string, string, string]
    await finish(client, sent)
    await client.terminate(canceled)
    const end = { status: 'failed', reason: 'for a test', from: ['uploading'] } as const
    await endUpload(endingContext(site.runtime), fileIdOf(failed), end)
    await database().db.execute(
      sql`update files set expires_at = now() - interval '1 hour' where id = ${fileIdOf(expired)}::uuid`,
    )
    await expireUploads(node.context)
    expect(await told()).toEqual([])
    const sealed = await sealing(client, 'holidays')
    expect([sealed.status, JSON.parse(sealed.body)]).toMatchObject([
      200,
      { name: 'holidays', namedBy: 'uploader', subject: 'ada', files: 5, open: 1, completedAt: null },
    ])
    expect(await told()).toEqual([])
    await finish(client, open)
    expect(await told()).toEqual([
      {
        pipe_id: site.pipe.id,
        batch_id: (await batchOf(sent))!.id,
        batch: 'holidays',
        namedBy: 'uploader',
        sender: 'Backend',
        subject: 'ada',
        sealedAt: JSON.parse(sealed.body).sealedAt,
        total: 5,
        transferred: 2,
        partially_transferred: 0,
        failed: 1,
        expired: 1,
        canceled: 1,
        files: [
          [sent, 'transferred'],
          [canceled, 'canceled'],
          [failed, 'failed'],
          [expired, 'expired'],
          [open, 'transferred'],
        ].map(([url, status]) => ({ file_id: fileIdOf(url!), status })),
      },
    ])
    expect(await told()).toEqual([])
  })

  it('is reported when it is sealed after all its files have ended, and only once if it is sealed twice', async () => {
    const client = await site.client(node, { batch: 'late' })
    const url = await begin(client)
    await finish(client, url)
    expect(await told()).toEqual([])
    const first = await sealing(client)
    const second = await sealing(client)
    expect(JSON.parse(second.body)).toEqual(JSON.parse(first.body))
    expect(await told()).toMatchObject([{ batch: 'late', namedBy: 'token', total: 1, transferred: 1 }])
    const third = await sealing(client)
    expect(JSON.parse(third.body)).toMatchObject({ sealedAt: JSON.parse(first.body).sealedAt })
    expect(JSON.parse(third.body).completedAt).not.toBeNull()
    expect(await told()).toEqual([])
  })

  it('accepts no more files from any source after being sealed early, and reports those it has', async () => {
    const client = await site.client(node, { batch: 'early' })
    const url = await begin(client)
    await sealing(client)
    const refused = await client.create(BYTES)
    expect([refused.status, JSON.parse(refused.body)]).toMatchObject([403, { code: 'batch_sealed' }])
    const plain = await httpCall({
      method: 'PUT',
      url: `${client.collection}b`,
      token: client.token,
      body: randomBytes(9),
    })
    expect(plain.status).toBe(403)
    const input = parseInput(backendUploadInput, { pipeId: site.pipe.id, filename: 'c', batch: 'early' })
    await expect(createBackendUpload(site.runtime, site.sender.token, input)).rejects.toMatchObject({
      code: 'batch_sealed',
    })
    await finish(client, url)
    expect(await told()).toMatchObject([{ total: 1, transferred: 1 }])
  })

  it('is never reported if it is never sealed', async () => {
    const client = await site.client(node)
    await finish(client, await begin(client, 'open'))
    site.clock.advance(40 * 86_400_000)
    expect(await told()).toEqual([])
  })

  it('is identified by its Sender, its subject, its name, and whether a token or the uploader named it', async () => {
    const named = await Promise.all([
      site.client(node, { batch: 'x' }),
      site.client(node, { batch: 'x' }),
      site.client(node),
      site.client(node, { subject: 'ada' }),
      site.client(node, { subject: 'bob' }),
      site.client(node, { subject: 'bob', batch: 'y' }),
    ])
    const ids = []
    for (const client of named) ids.push((await batchOf(await begin(client, 'x')))!)
    expect(new Set(ids.slice(1).map(({ id }) => id)).size).toBe(5)
    expect(ids[0]).toEqual(ids[1])
    expect(ids.map(({ name }) => name)).toEqual(['x', 'x', 'x', 'x', 'x', 'y'])
    const stranger = await sealing(named[4]!, 'y')
    expect(stranger.status).toBe(404)
    expect((await sealing(named[2]!)).status).toBe(404)
    const { data } = await listFiles(site.runtime, site.actor, { limit: 10, batchId: ids[0]!.id })
    expect(data).toHaveLength(2)
  })

  it('contains a joined file but not its pieces, and no file whose record was erased', async () => {
    const client = await site.client(node, { batch: 'joined' })
    const urls = []
    for (let n = 0; n < 2; n += 1) {
      const url = await client.begin(BYTES, { 'Upload-Concat': 'partial' })
      await finish(client, url)
      urls.push(url)
    }
    const { headers } = await tusCall({
      method: 'POST',
      url: client.collection,
      token: client.token,
      headers: { 'Upload-Concat': `final;${urls.join(' ')}` },
    })
    const erased = await begin(client)
    await client.terminate(erased)
    await eraseFile(site.runtime, site.actor, fileIdOf(erased))
    const deferred = await begin(client, undefined, null)
    expect((await client.patch(deferred, 0, randomBytes(5), { 'Upload-Length': '5' })).status).toBe(204)
    const plain = await httpCall({
      method: 'PUT',
      url: `${client.collection}p`,
      token: client.token,
      body: randomBytes(9),
    })
    await Promise.all(node.context.background)
    await sealing(client)
    const ids = [fileIdOf(headers.location!), fileIdOf(deferred), JSON.parse(plain.body).id]
    expect(await told()).toMatchObject([
      { total: 3, transferred: 3, files: ids.map((file_id) => ({ file_id })) },
    ])
  })

  it('counts a file once if its creation is repeated because the response was lost', async () => {
    const client = await site.client(node, { batch: 'again', maxFiles: 1 })
    await begin(client)
    await finish(client, await begin(client))
    await sealing(client)
    expect(await told()).toMatchObject([{ total: 1, transferred: 1 }])
  })

  it('can be sealed by the backend that named it, and by members, with an entry in the audit log', async () => {
    const client = await site.client(node, { batch: 'order-17' })
    const url = await begin(client)
    const input = { pipeId: site.pipe.id, batch: 'order-17' }
    const wrong = sealNamedBatch(site.runtime, site.sender.token, { ...input, subject: 'ada' })
    await expect(wrong).rejects.toMatchObject({ code: 'not_found' })
    expect(await sealNamedBatch(site.runtime, site.sender.token, input)).toMatchObject({ open: 1 })
    const other = await begin(await site.client(node), 'by people')
    const { id } = (await batchOf(other))!
    for (let n = 0; n < 2; n += 1) await sealBatch(site.runtime, site.actor, id)
    const { data } = await listAudit(site.runtime, site.actor, { limit: 100 })
    expect(data.filter(({ action }) => action === 'batch.sealed')).toMatchObject([{ subjectId: id }])
    await finish(client, url)
    expect(await told()).toMatchObject([{ batch: 'order-17' }])
    const elsewhere = await createSite(database())
    await expect(showBatch(elsewhere.runtime, elsewhere.actor, id)).rejects.toMatchObject({
      code: 'not_found',
    })
    await expect(sealBatch(elsewhere.runtime, elsewhere.actor, id)).rejects.toMatchObject({
      code: 'not_found',
    })
    await elsewhere.close()
  })

  it('is reported once if its last files end at the same time and two nodes check', async () => {
    const client = await site.client(node, { batch: 'raced' })
    const urls = await Promise.all(Array.from({ length: 12 }, () => begin(client)))
    const looking = async () => {
      for (let n = 0; n < 15; n += 1) await completeBatches(site.runtime)
    }
    await Promise.all([...urls.map((url) => finish(client, url)), sealing(client), looking(), looking()])
    expect(await told()).toMatchObject([{ total: 12, transferred: 12 }])
  })

  it('is sealed only after requests that are adding files have finished', async () => {
    const { id } = (await batchOf(await begin(await site.client(node, { batch: 'held' }))))!
    const { workspaceId, pipe, sender } = site
    const of = {
      id,
      workspaceId,
      pipeId: pipe.id,
      senderId: sender.id,
      subject: null,
      name: 'held',
      byToken: true,
    }
    const commit = await holdTransaction(database(), (tx) =>
      joinBatches(tx, [{ batch: of }], site.clock.now()),
    )
    const sealed = sealBatch(site.runtime, site.actor, id)
    const waiting = () =>
      rows(
        database().db,
        sql`select 1 from pg_locks where not granted and pid in (
        select pid from pg_stat_activity where datname = current_database())`,
      )
    const waits = vi.waitFor(async () => {
      expect(await waiting()).toHaveLength(1)
      return 'waits'
    })
    expect(await Promise.race([sealed, waits])).toBe('waits')
    await commit()
    expect((await sealed).sealedAt).not.toBeNull()
  })

  it('is sealed even if the creation of its first file is committed while it is being sealed', async () => {
    const { db } = database()
    const right = await node.context.rights.toCreate(await site.token(), site.pipe.id, 'tus')
    const batch = batchNamed(right.token, site.pipe.id, 'just begun')
    const commit = await holdTransaction(database(), (tx) => joinBatches(tx, [{ batch }], site.clock.now()))
    const committing = vi.spyOn(db._.session, 'prepareQuery').mockImplementationOnce((...statement) => {
      const prepared = db._.session.prepareQuery(...statement)
      const execute = (...values: Parameters<typeof prepared.execute>) =>
        prepared.execute(...values).finally(commit)
      return Object.assign(Object.create(prepared), { execute })
    })
    const sealed = await sealOwnBatch({ db, clock: site.clock }, right, 'just begun')
    committing.mockRestore()
    expect(sealed.sealedAt).not.toBeNull()
    expect(await told()).toMatchObject([{ batch: 'just begun', total: 0 }])
  })

  it('contains every file that was created before it was sealed, and refuses the others', async () => {
    for (let round = 0; round < 5; round += 1) {
      const client = await site.client(node, { batch: `contended ${round}` })
      const first = await begin(client)
      const created = Promise.all(Array.from({ length: 20 }, () => client.create(0)))
      const [replies] = await Promise.all([created, sealing(client), completeBatches(site.runtime)])
      const taken = replies.filter(({ status }) => status === 201)
      expect(replies.every(({ status }) => status === 201 || status === 403)).toBe(true)
      await finish(client, first)
      expect(await told()).toMatchObject([{ total: taken.length + 1 }])
    }
  })
})
