import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { resealSecrets } from '../../../server/reseal-secrets.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { fileIdOf, type TusClient, tusClient } from '../../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../../test/support/upload-site.ts'
import { rows } from '../../platform/db/database.ts'
import { createVault } from '../../platform/vault.ts'
import { reconcileUploads } from '../../recovery/reconcile.ts'

const slowDown = { kind: 'refuse', status: 503, code: 'SlowDown' } as const
describeWithDatabase('an encrypted tail', (database) => {
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  let client: TusClient
  beforeAll(async () => {
    site = await createSite(database())
    node = await serveUploads(site.runtime)
    client = await site.client(node)
  })
  afterAll(async () => {
    await node?.close()
    await site?.close()
  })
  const begin = async (whole: Buffer, sentBytes: number) => {
    const url = await client.begin(whole.length)
    expect((await client.patch(url, 0, whole.subarray(0, sentBytes))).status).toBe(204)
    return url
  }
  const tailsOf = async (url: string) => {
    const look = sql`select count(*)::int as tails from upload_tails where file_id = ${fileIdOf(url)}::uuid`
    return (await rows<{ tails: number }>(database().db, look))[0]!.tails
  }

  it('is not delivered if it was changed', async () => {
    const whole = randomBytes(2000)
    const url = await begin(whole, 1000)
    await database().db.execute(
      sql`update upload_tails set bytes = set_byte(bytes, 100, get_byte(bytes, 100) # 1) where file_id = ${fileIdOf(url)}::uuid`,
    )
    expect((await client.patch(url, 1000, whole.subarray(1000))).status).toBe(500)
    expect(await site.bucket.objects()).not.toContain(`${fileIdOf(url)}/file`)
  })

  it('survives a rotation of the key that wraps its own key, for the client and for the reconciler', async () => {
    const whole = randomBytes(2000)
    const [waiting, stuck] = [await begin(whole, 1000), await begin(whole, 1000)]
    const { runtime } = site
    const newKey = randomBytes(32)
    const both = createVault([newKey, ...runtime.config.encryptionKeys])
    site.bucket.faults.add({ operation: 'PutObject', times: 100, effect: slowDown })
    expect((await client.patch(stuck, 1000, whole.subarray(1000))).status).toBe(204)
    site.bucket.faults.clear()
    await resealSecrets(runtime.db, both)
    const rotated = await serveUploads({ ...runtime, vault: createVault([newKey]) })
    const ofRotated = tusClient({ url: rotated.url, pipeId: site.pipe.id, token: client.token })
    const there = rotated.url + new URL(waiting).pathname
    expect((await ofRotated.patch(there, 1000, whole.subarray(1000))).status).toBe(204)
    expect((await site.bucket.object(`${fileIdOf(waiting)}/file`)).equals(whole)).toBe(true)
    site.clock.advance(60_000)
    while (await tailsOf(stuck)) await reconcileUploads(rotated.context)
    expect((await site.bucket.object(`${fileIdOf(stuck)}/file`)).equals(whole)).toBe(true)
    await rotated.close()
  })
})
