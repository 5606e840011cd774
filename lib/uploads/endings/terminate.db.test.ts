import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { fileIdOf } from '../../../test/support/tus-client.ts'
import { createSite, serveUploads } from '../../../test/support/upload-site.ts'
import { rows } from '../../platform/db/database.ts'
import { clearLeftovers } from '../../recovery/clear-leftovers.ts'
import { cancelUpload } from './end-upload.ts'

const MiB = 1024 * 1024

/** TUS 1.0.0, Termination: "the Server SHOULD free associated resources". */
describeWithDatabase('DELETE', (database) => {
  it('leaves no tail, parts or multipart upload of an unfinished upload', { tags: 'long' }, async () => {
    const site = await createSite(database(), {
      bucket: { actions: ['s3:PutObject', 's3:AbortMultipartUpload'] },
    })
    const node = await serveUploads(site.runtime)
    const client = await site.client(node)
    const url = await client.begin(30 * MiB)
    expect((await client.patch(url, 0, randomBytes(10 * MiB))).status).toBe(204)
    expect((await client.patch(url, 10 * MiB, randomBytes(MiB))).status).toBe(204)
    const id = fileIdOf(url)
    const held = async () => {
      const look = sql`select (select count(*)::int from upload_tails where file_id = ${id}::uuid) as tails,
        (select count(*)::int from file_parts where file_id = ${id}::uuid) as parts,
        (select reserved_bytes::int from files where id = ${id}::uuid) as reserved`
      return { ...(await rows(database().db, look))[0], multiparts: (await site.bucket.unfinished()).length }
    }
    expect(await held()).toMatchObject({ tails: 2, parts: 1, multiparts: 1, reserved: 19 * MiB })
    expect((await client.terminate(url)).status).toBe(204)
    await clearLeftovers(node.context)
    expect(await held()).toEqual({ tails: 0, parts: 0, multiparts: 0, reserved: 0 })
    expect(await site.bucket.objects()).toEqual([])
    await node.close()
    await site.close()
  })

  it('succeeds both times when sent twice simultaneously', async () => {
    const site = await createSite(database())
    const node = await serveUploads(site.runtime)
    const client = await site.client(node)
    const url = await client.begin(30 * MiB)
    const of = { fileId: fileIdOf(url), workspaceId: site.actor.workspaceId }
    const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    let second: Promise<number> | undefined
    const emitEvents: typeof node.context.emitEvents = async (...about) => {
      second = client.terminate(url).then(({ status }) => status)
      await expect.poll(() => rows(database().db, waiting)).toHaveLength(1)
      await node.context.emitEvents(...about)
    }
    await cancelUpload({ ...node.context, emitEvents }, of)
    expect(await second).toBe(204)
    await node.close()
    await site.close()
  })
})
