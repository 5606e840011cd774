import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWithDatabase } from '../../test/support/databases.ts'
import { importOne, openSource, sendFile, startImporting } from '../../test/support/import-site.ts'
import { connectSftp, serveSftp } from '../../test/support/sftp-site.ts'
import { fileIdOf } from '../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../test/support/upload-site.ts'
import { showFile } from '../dashboard/files/show-file.ts'
import { eventSchema } from '../events/event-schemas.ts'
import { rows } from '../platform/db/database.ts'
import { parseInput } from '../platform/kernel/parse-input.ts'
import { createOutput } from '../webhooks/outputs/save-output.ts'
import { outputInput } from '../webhooks/outputs/webhook-output.ts'
import { completeBatches } from './complete-batches.ts'
import { sealNamedBatch } from './seal-batch.ts'

/** A file is in its batch regardless of its source and its destinations. */
describeWithDatabase('a batch with files from every source', (database) => {
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  beforeAll(async () => {
    site = await createSite(database(), {
      pipe: { source: { http: true, url: true, sftp: true } },
      copies: [{ required: false }],
    })
    node = await serveUploads(site.runtime)
    const asked = { url: 'http://127.0.0.1:1/hook', events: ['batch.completed'] }
    await createOutput(site.runtime, site.actor, {}, parseInput(outputInput, asked))
  })
  afterAll(async () => {
    await node?.close()
    await site?.close()
  })

  const statusOf = async (id: string) => (await showFile(site.runtime, site.actor, id)).status
  async function told() {
    await completeBatches(site.runtime)
    const found = await rows<{ payload: string }>(
      database().db,
      sql`select payload from events where workspace_id = ${site.workspaceId}::uuid and kind = 'batch.completed'`,
    )
    return found.map(({ payload }) => eventSchema('batch.completed').parse(JSON.parse(payload)).data)
  }

  it('contains an import, a file sent by SFTP, and one missing from a destination', async () => {
    const batch = 'order-17'
    const bytes = randomBytes(500)
    const source = await openSource((req, res) => sendFile(req, res, { bytes, etag: '"one"' }))
    const worker = await startImporting(site)
    const imported = await importOne(site, { url: `${source.url}/imported`, batch })

    const sftp = await serveSftp(site.runtime)
    const client = await connectSftp({ port: sftp.port, pipe: site.pipe }, await site.token({ batch }))
    const handle = await client.open('/by-sftp.bin', 'w')
    await client.writeAll(handle, bytes)
    await client.close(handle)
    client.client.end()
    await client.gone

    await expect.poll(() => statusOf(imported), { timeout: 20_000 }).toBe('transferred')
    const effect = { kind: 'refuse', status: 403, code: 'AccessDenied' } as const
    site.copies[0]!.bucket.faults.add({ operation: 'PutObject', effect, times: 100 })
    const byTus = await site.client(node, { batch })
    const url = await byTus.begin(bytes.length)
    expect((await byTus.patch(url, 0, bytes)).status).toBe(204)
    await expect.poll(() => statusOf(fileIdOf(url))).toBe('partially_transferred')
    site.copies[0]!.bucket.faults.clear()

    expect(await told()).toEqual([])
    await sealNamedBatch(site.runtime, site.sender.token, { pipeId: site.pipe.id, batch, subject: undefined })
    expect(await told()).toMatchObject([
      { batch, namedBy: 'token', total: 3, transferred: 2, partially_transferred: 1 },
    ])
    const late = importOne(site, { url: `${source.url}/late`, batch })
    await expect(late).rejects.toMatchObject({ code: 'batch_sealed' })
    await Promise.all([sftp.close(), worker.stop(), source.close()])
  })
})
