import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { httpCall } from '../../../test/support/http-call.ts'
import { metadata, tusCall, tusClient } from '../../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../../test/support/upload-site.ts'
import { eventSchema } from '../../events/event-schemas.ts'
import { rows } from '../../platform/db/database.ts'
import { parseInput } from '../../platform/kernel/parse-input.ts'
import { createOutput } from '../../webhooks/outputs/save-output.ts'
import { outputInput } from '../../webhooks/outputs/webhook-output.ts'

type Told = { kind: string; payload: string; fileId: string; isBorn: boolean; deliveries: number }

describeWithDatabase('file.created, for an output that subscribes to it', (database) => {
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  beforeAll(async () => {
    site = await createSite(database(), {
      bucket: { actions: ['s3:PutObject', 's3:GetObject', 's3:DeleteObject'] },
    })
    await database().db.execute(
      sql`update data_stores set may_read = true, may_delete = true where id = ${site.dataStore.id}::uuid`,
    )
    node = await serveUploads(site.runtime)
    const asked = { url: 'http://127.0.0.1:1/hook', events: ['file.created'] }
    await createOutput(site.runtime, site.actor, {}, parseInput(outputInput, asked))
  })
  afterAll(async () => {
    await node?.close()
    await site?.close()
  })

  /**
   * Returns the events that were written since the last call. `isBorn` means that the transaction also wrote the first
   * line of the timeline.
   */
  let seen = 0
  async function told() {
    const look = sql`select e.kind, e.payload, e.file_id as "fileId",
        e.xmin = t.xmin as "isBorn", (select count(*)::int from deliveries d where d.event_id = e.id) as deliveries
      from events e join file_timeline t on t.file_id = e.file_id and t.kind = 'created'
      where e.workspace_id = ${site.workspaceId}::uuid order by e.id`
    const all = await rows<Told>(database().db, look)
    const since = all.slice(seen)
    seen = all.length
    return since
  }
  const clientOf = async (limits = {}) =>
    tusClient({ url: node.url, pipeId: site.pipe.id, token: await site.token(limits) })

  it('is written once, by the transaction that creates the file, whatever happens to the file later', async () => {
    const limited = { maxFiles: 1, subject: 'ada', metadata: { order: '7' } }
    for (const limits of [{}, limited]) {
      const client = await clientOf(limits)
      const { headers } = await client.create(1000, { 'Upload-Metadata': metadata({ filename: 'film.mp4' }) })
      const fileId = headers.location!.split('/').at(-1)!
      const [event, ...more] = await told()
      expect(more).toEqual([])
      expect(event).toMatchObject({ kind: 'file.created', fileId, isBorn: true, deliveries: 1 })
      expect(eventSchema('file.created').strict().parse(JSON.parse(event!.payload)).data).toMatchObject({
        pipe_id: site.pipe.id,
        file_id: fileId,
        status: 'uploading',
        filename: 'film.mp4',
        size: 1000,
        protocol: 'tus',
        ...('subject' in limits && { subject: 'ada', metadata: { order: '7' } }),
      })
      expect((await client.patch(headers.location!, 0, randomBytes(1000))).status).toBe(204)
      expect(await told()).toMatchObject([{ kind: 'file.status_changed' }])
    }
  })

  it('is written before the end of a file sent in one request', async () => {
    const url = `${node.url}/pipes/${site.pipe.id}/files/film.bin`
    const { status, body } = await httpCall({
      method: 'PUT',
      url,
      token: await site.token(),
      body: randomBytes(1000),
    })
    expect(status).toBe(201)
    const fileId = JSON.parse(body).id
    const [born, ended, ...more] = await told()
    expect(more).toEqual([])
    expect(born).toMatchObject({ kind: 'file.created', fileId, isBorn: true, deliveries: 1 })
    expect(ended).toMatchObject({ kind: 'file.status_changed', fileId, isBorn: false })
    expect(JSON.parse(born!.payload).data).toMatchObject({
      status: 'uploading',
      size: 1000,
      protocol: 'http',
    })
  })

  it('is written for each of several files created together', async () => {
    const client = await clientOf()
    const made = await Promise.all(Array.from({ length: 20 }, () => client.create(10)))
    const ids = made.map(({ headers }) => headers.location!.split('/').at(-1)!)
    const events = await told()
    expect(events.map(({ fileId }) => fileId).sort()).toEqual(ids.sort())
    expect(events.every(({ isBorn, kind }) => isBorn && kind === 'file.created')).toBe(true)
  })

  it('is written for a joined file, and not for its pieces', async () => {
    const client = await clientOf()
    const piece = (await client.create(10, { 'Upload-Concat': 'partial' })).headers.location!
    expect((await client.patch(piece, 0, randomBytes(10))).status).toBe(204)
    expect(await told()).toEqual([])
    const final = await tusCall({
      method: 'POST',
      url: client.collection,
      token: client.token,
      headers: { 'Upload-Concat': `final;${piece}` },
    })
    expect(final.status).toBe(201)
    const [born] = await told()
    expect(born).toMatchObject({ kind: 'file.created', isBorn: true, deliveries: 1 })
    expect(final.headers.location).toContain(born!.fileId)
    expect(JSON.parse(born!.payload).data).toMatchObject({ status: 'uploading', size: 10 })
  })

  it('is not written for a refused creation', async () => {
    const spent = await clientOf({ maxFiles: 1 })
    expect((await spent.create(10)).status).toBe(201)
    expect(await told()).toHaveLength(1)
    const small = await clientOf({ maxBytes: 5 })
    const refused = [
      await spent.create(20),
      await small.create(10),
      await small.create(10, { 'Upload-Metadata': 'a b c' }),
    ]
    expect(refused.map(({ status }) => status)).toEqual([403, 413, 400])
    const left = sql`select 1 from events e where workspace_id = ${site.workspaceId}::uuid
      and not exists (select from files f where f.id = e.file_id)`
    expect([await told(), await rows(database().db, left)]).toEqual([[], []])
  })
})
