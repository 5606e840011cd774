import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { resealSecrets } from '../../../server/reseal-secrets.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { tusClient } from '../../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../../test/support/upload-site.ts'
import { rows } from '../../platform/db/database.ts'
import { createVault } from '../../platform/vault.ts'
import { releaseLease } from '../ledger/release-lease.ts'
import { PartBuffer } from '../memory/part-buffer.ts'
import { openUpload } from '../opening/open-upload.ts'
import { reconcileUploads } from '../recovery/reconcile.ts'
import { Parts } from './parts.ts'

const MiB = 1024 * 1024
const slowDown = { kind: 'refuse', status: 503, code: 'SlowDown' } as const
const idOf = (url: string) => url.split('/').at(-1)!

describeWithDatabase('an encrypted tail', (database) => {
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  let client: ReturnType<typeof tusClient>
  beforeAll(async () => {
    site = await createSite(database())
    node = await serveUploads(site.runtime)
    client = tusClient({ url: node.url, pipeId: site.pipe.id, token: await site.token() })
  })
  afterAll(async () => {
    await node?.close()
    await site?.close()
  })
  const begin = async (whole: Buffer, sentBytes: number) => {
    const url = (await client.create(whole.length)).headers.location!
    expect((await client.patch(url, 0, whole.subarray(0, sentBytes))).status).toBe(204)
    return url
  }
  const sealedOf = async (url: string) => {
    const look = sql`select sealed_fence is not null as guarded, (select count(*)::int from upload_tails t
      where t.file_id = f.id and t.key is not null) as tails from files f where id = ${idOf(url)}::uuid`
    return (await rows<{ guarded: boolean; tails: number }>(database().db, look))[0]
  }
  /** As a release takes leases that does not know of encrypted tails: many files in one statement. */
  const takeAsBefore = async (...urls: string[]) => {
    const ids = sql.join(
      urls.map((url) => sql`${idOf(url)}::uuid`),
      sql`, `,
    )
    const taken = await rows<{ id: string }>(
      database().db,
      sql`update files f set lease_holder = 'older', lease_fence = f.lease_fence + 1, bound_fence = f.lease_fence + 1,
        lease_until = now() where id in (${ids}) returning id`,
    )
    return taken.map(({ id }) => id)
  }

  it('keeps its file, and no other, from a release that would take it for the bytes of the file', async () => {
    const whole = randomBytes(9 * MiB)
    const tailed = await begin(whole, 1000)
    const fresh = (await client.create(whole.length)).headers.location!
    expect(await sealedOf(tailed)).toEqual({ guarded: true, tails: 1 })
    expect(await takeAsBefore(tailed, fresh)).toEqual([idOf(fresh)])
    // A lease of this release does not open the file to one of the release before.
    expect((await client.patch(tailed, 1000, whole.subarray(1000, 2000))).status).toBe(204)
    expect(await takeAsBefore(tailed)).toEqual([])
    // A part takes the tail away, and nothing is left to be guarded.
    expect((await client.patch(tailed, 2000, whole.subarray(2000, 8 * MiB))).status).toBe(204)
    expect(await sealedOf(tailed)).toEqual({ guarded: false, tails: 0 })
    expect(await takeAsBefore(tailed)).toEqual([idOf(tailed)])
    expect((await client.patch(tailed, 8 * MiB, whole.subarray(8 * MiB))).status).toBe(204)
    expect((await site.bucket.object(`${idOf(tailed)}/file`)).equals(whole)).toBe(true)
  })

  it('is guarded once the checksum of its body agrees, however little comes behind it', async () => {
    const { context } = node
    const whole = randomBytes(2000)
    const url = (await client.create(whole.length)).headers.location!
    const at = { pipeId: site.pipe.id, fileId: idOf(url) }
    const right = await context.rights.toContinue(client.token, at)
    const upload = (await openUpload(context, right, { bytes: 1000 }))!
    const parts = new Parts(context, upload, { atomic: true })
    const buffer = new PartBuffer(upload.memory)
    buffer.push(whole.subarray(0, 1000), 0)
    await parts.storeAsTail(buffer)
    const staged = await sealedOf(url)
    parts.commit()
    await parts.recorded()
    await releaseLease(context, upload.lease, { interrupted: false })
    upload.lease.forget()
    expect(staged).toEqual({ guarded: false, tails: 1 })
    expect(await sealedOf(url)).toEqual({ guarded: true, tails: 1 })
    expect(await takeAsBefore(url)).toEqual([])
    expect((await client.patch(url, 1000, whole.subarray(1000))).status).toBe(204)
    expect((await site.bucket.object(`${idOf(url)}/file`)).equals(whole)).toBe(true)
  })

  it('that was changed is not delivered', async () => {
    const whole = randomBytes(2000)
    const url = await begin(whole, 1000)
    await database().db.execute(
      sql`update upload_tails set bytes = set_byte(bytes, 100, get_byte(bytes, 100) # 1) where file_id = ${idOf(url)}::uuid`,
    )
    expect((await client.patch(url, 1000, whole.subarray(1000))).status).toBe(500)
    expect(await site.bucket.objects()).not.toContain(`${idOf(url)}/file`)
  })

  it('stands behind one that the release before wrote', async () => {
    const whole = randomBytes(3000)
    const url = await begin(whole, 1000)
    const plain = whole.subarray(0, 1000).toString('base64')
    await database().db.execute(
      sql`update upload_tails set key = null, bytes = decode(${plain}, 'base64') where file_id = ${idOf(url)}::uuid`,
    )
    expect((await client.patch(url, 1000, whole.subarray(1000, 2000))).status).toBe(204)
    expect(await sealedOf(url)).toEqual({ guarded: true, tails: 1 })
    expect((await client.patch(url, 2000, whole.subarray(2000))).status).toBe(204)
    expect((await site.bucket.object(`${idOf(url)}/file`)).equals(whole)).toBe(true)
  })

  it('outlives the key that wrapped its own, for the client and for the reconciler', async () => {
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
    expect((await site.bucket.object(`${idOf(waiting)}/file`)).equals(whole)).toBe(true)
    site.clock.advance(60_000)
    while ((await sealedOf(stuck))?.tails) await reconcileUploads(rotated.context)
    expect((await site.bucket.object(`${idOf(stuck)}/file`)).equals(whole)).toBe(true)
    await rotated.close()
  })
})
