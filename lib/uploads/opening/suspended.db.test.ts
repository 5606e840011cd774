import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { openPatch, tusClient } from '../../../test/support/tus-client.ts'
import { createSite, serveUploads } from '../../../test/support/upload-site.ts'

describeWithDatabase('a suspended workspace', (database) => {
  it('stops uploads in progress on every node, which later continue at the exact byte', {
    tags: 'long',
  }, async () => {
    const site = await createSite(database())
    const nodes = [
      await serveUploads(site.runtime, { terms: { renewMs: 50 } }),
      await serveUploads(site.runtime, { terms: { renewMs: 50 } }),
    ]
    const [one, other] = nodes.map(({ url }) => url) as [string, string]
    const client = tusClient({ url: one, pipeId: site.pipe.id, token: await site.token() })
    const at = (url: string, base: string) => url.replace(/^http:\/\/[^/]+/, base)
    const bytes = randomBytes(9_000_000)
    const urls = await Promise.all(
      [one, other].map(async (base) => at(await client.begin(bytes.length), base)),
    )
    const open = urls.map((url) => openPatch(client, url, { offset: 0, length: bytes.length }))
    for (const patch of open) await patch.write(bytes.subarray(0, 6_000_000))
    const whole = at(await client.begin(1000), one)

    const suspend = (value: boolean) =>
      database().db.execute(
        sql`update workspaces set suspended_at = ${value ? sql`now()` : sql`null`} where id = ${site.workspaceId}::uuid`,
      )
    await suspend(true)
    for (const [n, patch] of open.entries()) {
      const { status, headers, body } = await patch.reply
      expect(status).toBe(403)
      expect(JSON.parse(String(body))).toMatchObject({ code: 'workspace_suspended' })
      const head = await client.head(urls[n]!)
      expect(head.status).toBe(200)
      expect(head.headers['upload-offset']).toBe(headers['upload-offset'])
    }
    const refusals = [
      await client.create(10),
      await client.patch(whole, 0, randomBytes(1000)),
      await client.patch(urls[0]!, 0, randomBytes(1000)),
    ]
    for (const { status, body } of refusals)
      expect([status, JSON.parse(String(body)).code]).toEqual([403, 'workspace_suspended'])
    await expect(site.token()).rejects.toMatchObject({ code: 'workspace_suspended' })

    await suspend(false)
    await site.token()
    expect((await client.patch(whole, 0, randomBytes(1000))).status).toBe(204)
    for (const url of urls) {
      const offset = await client.offset(url)
      expect(offset).toBeGreaterThan(0)
      expect((await client.patch(url, offset, bytes.subarray(offset))).status).toBe(204)
    }
    const objects = await Promise.all((await site.bucket.objects()).map((key) => site.bucket.object(key)))
    expect(objects.filter((object) => object.equals(bytes))).toHaveLength(2)
    for (const node of nodes) await node.close()
    await site.close()
  })

  it('accepts no file larger than the operator allows, but continues an upload that was already started', async () => {
    const site = await createSite(database())
    const node = await serveUploads(site.runtime)
    const client = await site.client(node)
    const url = await client.begin(1000)
    await database().db.execute(
      sql`update workspaces set max_file_bytes = 500 where id = ${site.workspaceId}::uuid`,
    )
    expect((await client.create(501)).status).toBe(413)
    expect((await client.create(500)).status).toBe(201)
    expect((await client.patch(url, 0, randomBytes(1000))).status).toBe(204)
    await node.close()
    await site.close()
  })
})
