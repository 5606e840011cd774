/** @module-tag long */
import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { importOne, openSource, startImporting } from '../../../test/support/import-site.ts'
import { randomOf } from '../../../test/support/random.ts'
import { connectSftp, serveSftp } from '../../../test/support/sftp-site.ts'
import { fileIdOf, tusClient } from '../../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../../test/support/upload-site.ts'
import { closeWorkspace } from '../../identity/workspaces/delete-workspace.ts'
import { IMPORT_TERMS } from '../../imports/run-import.ts'
import { rows } from '../../platform/db/database.ts'
import { cancelUploadsOfPipe } from '../../recovery/cancel-uploads.ts'
import { expireUploads } from '../../recovery/upload-sweeps.ts'
import { cancelUpload } from './end-upload.ts'

/** `RACES=500` runs more of them. */
const RACES = Number(process.env.RACES ?? 16)
const MiB = 1024 * 1024
const BODY = randomBytes(4.5 * MiB)
const LENGTH = 20 * MiB
/** The end comes within this many round trips to the database after the last byte was sent. */
const MOST_TURNS = 40
const SITE = { pipe: { source: { http: true, sftp: true, url: true } } }

/** An upload of which more bytes are still to come. `sent` resolves once `BODY` has been sent. */
type Writing = {
  fileId: string
  sent: Promise<unknown>
  remove(): Promise<unknown>
  close(): Promise<unknown>
}

describeWithDatabase('an upload that ends while it is being written', (database) => {
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  let sftp: Awaited<ReturnType<typeof serveSftp>>
  let worker: Awaited<ReturnType<typeof startImporting>>
  beforeAll(async () => {
    site = await createSite(database(), SITE)
    node = await serveUploads(site.runtime)
    const lavish = { burst: 10_000, refillMs: 1 }
    const terms = { writeIdleMs: 20, exchanges: lavish, exchangesPerNetwork: lavish }
    sftp = await serveSftp(site.runtime, { terms })
    worker = await startImporting(site, { importTerms: { ...IMPORT_TERMS, lookMs: 20 } })
  })
  afterAll(async () => {
    await Promise.all([worker?.stop(), sftp?.close(), node?.close()])
    await site?.close()
  })

  const patch = async (at: Site, headers: Record<string, string>): Promise<Writing> => {
    const client = tusClient({ url: node.url, pipeId: at.pipe.id, token: await at.token() })
    const url = await client.begin(LENGTH)
    const sent = client.patch(url, 0, BODY, headers)
    // The response comes when the bytes are recorded, so the end must not wait for it.
    return {
      fileId: fileIdOf(url),
      sent: Promise.resolve(),
      remove: () => client.terminate(url),
      close: () => sent,
    }
  }

  const WRITERS: Record<string, (at: Site) => Promise<Writing>> = {
    'a PATCH': (at) => patch(at, {}),
    'an atomic PATCH': (at) =>
      patch(at, { 'Upload-Checksum': `sha1 ${createHash('sha1').update(BODY).digest('base64')}` }),
    async SFTP(at) {
      const client = await connectSftp({ port: sftp.port, pipe: at.pipe }, await at.token())
      const handle = await client.open('/file', 'w')
      const sent = client.writeAll(handle, BODY)
      const newest = sql`select id from files where pipe_id = ${at.pipe.id} order by id desc limit 1`
      const [file] = await rows<{ id: string }>(database().db, newest)
      return {
        fileId: file!.id,
        sent,
        remove: () => client.run('unlink', '/file'),
        close: () => client.kill(),
      }
    },
    async 'an import'(at) {
      const { promise: sent, resolve } = Promise.withResolvers<void>()
      const source = await openSource((_, res) => {
        res.writeHead(200, { 'Content-Length': LENGTH })
        res.write(BODY, () => setImmediate(() => resolve(void res.socket?.end())))
      })
      const fileId = await importOne(at, { url: source.url })
      const cancel = () => cancelUpload(node.context, { fileId, workspaceId: at.workspaceId })
      return { fileId, sent, remove: cancel, close: source.close }
    },
  }
  const ENDS: Record<string, (at: Site, writing: Writing) => Promise<unknown>> = {
    'is deleted by its client': (_, { remove }) => remove(),
    'is canceled through the API': ({ workspaceId }, { fileId }) =>
      cancelUpload(node.context, { fileId, workspaceId }),
    async expires(_, { fileId }) {
      await database().db.execute(sql`update files set expires_at = now() where id = ${fileId}::uuid`)
      await expireUploads(node.context)
    },
    async 'is in a workspace that is closed'({ workspaceId, pipe, runtime }) {
      await database().db.transaction((tx) => closeWorkspace(tx, workspaceId, new Date()))
      await cancelUploadsOfPipe(runtime)(pipe.id)
    },
  }
  const ways = Object.keys(WRITERS).flatMap((by) => Object.keys(ENDS).map((how) => [by, how] as const))

  it.each(ways)('by %s and %s leaves no bytes', { timeout: 30_000 + RACES * 1000 }, async (by, how) => {
    const random = randomOf(`${by} ${how}`)
    const ids: string[] = []
    for (let race = 0; race < RACES / ways.length; race++) {
      const own = how.includes('workspace') ? await createSite(database(), SITE) : site
      const writing = await WRITERS[by]!(own)
      ids.push(writing.fileId)
      await writing.sent.catch(() => {})
      for (let turn = random.whole(0, MOST_TURNS); turn > 0; turn--) await rows(database().db, sql`select 1`)
      await Promise.allSettled([ENDS[how]!(own, writing)])
      await writing.close()
      // Writers that have lost their upload end on their own.
      await Promise.all([node, sftp, worker].flatMap(({ context }) => [...context.background]))
      if (own !== site) await own.close()
    }
    const left = await rows(
      database().db,
      sql`select id, status from files f where status not in ('uploading', 'transferring')
        and id in (select value::uuid from jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb))
        and (exists (select from upload_tails where file_id = id) or exists (select from file_parts where file_id = id))`,
    )
    expect(left).toEqual([])
  })

  it('has indeed been ended in most of the races', async () => {
    const [ended] = await rows<{ all: number; ended: number }>(
      database().db,
      sql`select count(*)::int as all, (count(*) filter (where status in ('canceled', 'expired')))::int as ended from files`,
    )
    expect(ended!.ended).toBeGreaterThan(ended!.all / 2)
  })
})
