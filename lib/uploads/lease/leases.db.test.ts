import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { expect, it, vi } from 'vitest'
import { blocked, describeWithDatabase } from '../../../test/support/databases.ts'
import { elapse } from '../../../test/support/elapse.ts'
import { fileIdOf, openPatch, tusClient } from '../../../test/support/tus-client.ts'
import { createSite, serveUploads } from '../../../test/support/upload-site.ts'
import { rows } from '../../platform/db/database.ts'
import { releaseLease, renewLeases, takeLease } from '../ledger/lease-rows.ts'
import { type Fenced, LEASE_CHANNEL, newClaim } from '../ledger/lease-terms.ts'
import { advance } from '../ledger/offsets.ts'
import { bindParts, recordMultipart } from '../ledger/part-rows.ts'
import { stageTail } from '../ledger/tail-rows.ts'

describeWithDatabase('a lease', (database) => {
  it('stages no bytes once it has expired, because the next holder might not see them', async () => {
    const site = await createSite(database())
    const node = await serveUploads(site.runtime)
    const client = await site.client(node)
    const fileId = fileIdOf(await client.begin(10))
    const { db } = database()
    const claim = newClaim(60_000)
    const { fence } = (await takeLease({ db, clock: site.clock }, claim, {
      rowId: fileId,
      tokenId: null,
      plan: undefined,
    }))!
    const lease = { ...claim, rowId: fileId, fence }
    const stage = (offsetBytes: number) =>
      stageTail(db, lease, {
        offsetBytes,
        tail: node.context.tailCipher.sealer(fileId)(offsetBytes, randomBytes(1)),
      })
    await stage(0)
    await db.execute(sql`update files set lease_until = now() where id = ${fileId}::uuid`)
    await expect(stage(1)).rejects.toMatchObject({ code: 'upload_locked' })
    await node.close()
    await site.close()
  })

  it('is taken over with what its holder was still recording, and without what it was still staging', async () => {
    const site = await createSite(database())
    const node = await serveUploads(site.runtime)
    const client = await site.client(node)
    const fileId = fileIdOf(await client.begin(10))
    const { db } = database()
    const file = { rowId: fileId, tokenId: null, plan: undefined }
    const claim = newClaim(500)
    const { fence } = (await takeLease({ db, clock: site.clock }, claim, file))!
    let taking: ReturnType<typeof takeLease> | undefined
    await db.transaction(async (tx) => {
      const tail = node.context.tailCipher.sealer(fileId)(0, randomBytes(1))
      await stageTail(tx, { ...claim, rowId: fileId, fence }, { offsetBytes: 0, tail })
      const begun = { dataStoreId: site.dataStore.id, multipartId: 'begun', storage: null }
      await recordMultipart(tx, { ...claim, rowId: fileId, fence }, begun)
      // The commit takes longer than the lease lasts.
      const look = sql`select lease_until < now() as over from files where id = ${fileId}::uuid`
      await expect.poll(async () => (await rows<{ over: boolean }>(db, look))[0]!.over).toBe(true)
      taking = takeLease({ db, clock: site.clock }, newClaim(60_000), file)
      await blocked(database())
    })
    const held = [{ multipartId: 'begun', isOpen: true }]
    expect(await taking).toMatchObject({ leaseLapsed: true, held })
    expect(await rows(db, sql`select 1 from upload_tails where file_id = ${fileId}::uuid`)).toEqual([])
    await node.close()
    await site.close()
  })

  it('is not lost if released during a renewal, but is lost if it is taken over or the upload ends', async () => {
    const site = await createSite(database())
    const node = await serveUploads(site.runtime)
    const client = await site.client(node)
    const urls = await Promise.all([1, 2, 3].map(() => client.begin(10)))
    for (const url of urls) await client.patch(url, 0, randomBytes(4))
    const leases = await rows<Fenced>(
      database().db,
      sql`select id as "rowId", lease_fence as fence, lease_holder as claim from files
        where workspace_id = ${site.workspaceId}::uuid order by id`,
    )
    const [released, takenOver, ended] = leases.map(({ rowId }) => rowId)
    const next = { rowId: takenOver!, tokenId: null, plan: undefined }
    await takeLease({ db: database().db, clock: site.clock }, newClaim(60_000), next)
    await client.terminate(urls.find((url) => url.endsWith(ended!))!)
    const still = await renewLeases(database().db, leases, 60_000)
    expect([...still.keys()]).toEqual([released])
    await node.close()
    await site.close()
  })

  it('allows no writes once a failover has erased it, even if its fence is issued again', async () => {
    const site = await createSite(database())
    const [node, other] = [await serveUploads(site.runtime), await serveUploads(site.runtime)]
    const { db, leases, clock } = node.context
    const client = await site.client(node)
    const fileId = fileIdOf(await client.begin(20 * 2 ** 20))
    const file = { rowId: fileId, tokenId: null, plan: undefined }
    const look = () => rows(db, sql`select * from files where id = ${fileId}::uuid`)
    /** The state of a standby that did not receive the commit that took the lease. */
    const forgetTaking = () =>
      db.execute(
        sql`update files set lease_fence = 0, lease_holder = null, lease_until = null where id = ${fileId}::uuid`,
      )
    const bound = (end: number) => ({ recordedParts: 0, recordedBytes: 0, boundEnds: [end] })

    const forgotten = (await leases.take(file))!.lease
    await forgetTaking()
    const holder = (await other.context.leases.take(file))!.lease
    expect(holder.fence).toBe(forgotten.fence)
    await bindParts(db, holder, bound(8 * 2 ** 20))
    const before = await look()
    const byNobody = { code: 'upload_locked' }
    await expect(bindParts(db, forgotten, bound(6 * 2 ** 20))).rejects.toMatchObject(byNobody)
    await expect(
      recordMultipart(db, forgotten, {
        dataStoreId: site.dataStore.id,
        multipartId: 'another',
        storage: null,
      }),
    ).rejects.toMatchObject(byNobody)
    const tail = node.context.tailCipher.sealer(fileId)(0, randomBytes(1))
    await expect(stageTail(db, forgotten, { offsetBytes: 0, tail })).rejects.toMatchObject(byNobody)
    const step = { fromBytes: 0, toBytes: 1, crc32: 0, tail }
    await expect(advance(db, forgotten, step, clock.now())).rejects.toMatchObject(byNobody)
    await releaseLease({ db, clock }, forgotten, { interrupted: true })
    expect(await look()).toEqual(before)
    expect([...(await renewLeases(db, [forgotten], 60_000))]).toEqual([])

    // The same node takes the lease again. The two acquisitions are distinct, in the database and in memory.
    await forgetTaking()
    const again = (await leases.take(file))!.lease
    expect([again.fence, forgotten.signal.aborted]).toEqual([forgotten.fence, true])
    await expect(bindParts(db, forgotten, bound(6 * 2 ** 20))).rejects.toMatchObject(byNobody)
    await bindParts(db, again, bound(6 * 2 ** 20))
    for (const lease of [forgotten, holder, again]) lease.forget()
    await node.close()
    await other.close()
    await site.close()
  })

  it('is renewed even if there are more leases than fit into one statement', { tags: 'long' }, async () => {
    const site = await createSite(database())
    const node = await serveUploads(site.runtime, { terms: { renewMs: 100 } })
    const client = await site.client(node)
    const leases = []
    for (let n = 0; n < 120; n++) {
      const fileId = fileIdOf(await client.begin(10))
      leases.push((await node.context.leases.take({ rowId: fileId, tokenId: null, plan: undefined }))!.lease)
    }
    const takenBy = Date.now()
    const look = sql`select count(*)::int as renewed from files where workspace_id = ${site.workspaceId}::uuid
      and lease_until > ${new Date(takenBy + node.context.terms.leaseMs).toISOString()}::timestamptz`
    const renewed = async () => (await rows<{ renewed: number }>(database().db, look))[0]!.renewed
    await vi.waitFor(async () => expect(await renewed()).toBe(120), { timeout: 20_000 })
    for (const lease of leases) lease.forget()
    await node.close()
    await site.close()
  })

  it('counts as lapsed only if its holder died, not whenever an upload is resumed', async () => {
    const site = await createSite(database())
    const { context, url: base, close } = await serveUploads(site.runtime)
    const client = tusClient({ url: base, pipeId: site.pipe.id, token: await site.token() })
    const fileId = fileIdOf(await client.begin(10))
    const file = { rowId: fileId, tokenId: null, plan: undefined }
    const takenOver = async () =>
      (await context.metrics.leasesTakenOver.get()).values.map(({ labels, value }) => [labels.how, value])
    const cut = (await context.leases.take(file))!
    await cut.lease.release({ interrupted: true })
    const resumed = (await context.leases.take(file))!
    expect(resumed.resumed).toBe(true)
    expect(await takenOver()).toEqual([])
    await resumed.lease.release({ interrupted: false })
    await takeLease(context, newClaim(500), file)
    const afterDeath = (await context.leases.take(file))!
    expect(await takenOver()).toEqual([['lapsed', 1]])
    await afterDeath.lease.release({ interrupted: false })
    await close()
    await site.close()
  })

  it('lets two competing clients take turns until both have finished', async () => {
    const site = await createSite(database())
    const node = await serveUploads(site.runtime, { terms: { turnMs: 50, quietMs: 20 } })
    const client = await site.client(node)
    const whole = randomBytes(3 * 2 ** 20)
    const url = await client.begin(whole.length)
    const tab = async () => {
      for (;;) {
        const head = await client.head(url)
        if (head.status === 423) continue
        const offset = Number(head.headers['upload-offset'])
        if (offset === whole.length) return
        const patch = openPatch(client, url, { offset, length: whole.length - offset })
        for (let at = offset; at < whole.length; at += 65_536)
          await patch.write(whole.subarray(at, at + 65_536))
        await patch.reply.catch(() => {})
      }
    }
    await Promise.all([tab(), tab()])
    expect((await site.bucket.object(`${fileIdOf(url)}/file`)).equals(whole)).toBe(true)
    await node.close()
    await site.close()
  })

  it('lets two competing clients finish a body with a checksum, which takes effect entirely or not at all', async () => {
    const site = await createSite(database())
    const node = await serveUploads(site.runtime, { terms: { turnMs: 1, quietMs: 1 } })
    const client = await site.client(node)
    const whole = randomBytes(2 ** 20)
    const url = await client.begin(whole.length)
    const sum = createHash('sha1').update(whole).digest('base64')
    const tab = async () => {
      for (let turn = 0; turn < 20; turn++) {
        const head = await client.head(url)
        if (head.headers['upload-offset'] === String(whole.length)) return 'done'
        const headers = { 'Upload-Checksum': `sha1 ${sum}` }
        const patch = openPatch(client, url, { offset: 0, length: whole.length, headers })
        for (let at = 0; at < whole.length; at += 65_536) await patch.write(whole.subarray(at, at + 65_536))
        await patch.reply.catch(() => {})
      }
      return 'stopped for ever'
    }
    expect(await Promise.all([tab(), tab()])).toEqual(['done', 'done'])
    await node.close()
    await site.close()
  })

  it('ends a request with a checksum that sends nothing for too long', async () => {
    const site = await createSite(database())
    const node = await serveUploads(site.runtime, { terms: { atomicQuietMs: 50 } })
    const client = await site.client(node)
    const url = await client.begin(1000)
    const headers = { 'Upload-Checksum': 'sha1 AAAA' }
    const patch = openPatch(client, url, { offset: 0, length: 1000, headers })
    await patch.write(randomBytes(500))
    const head = await client.head(url)
    expect(head).toMatchObject({ status: 200, headers: { 'upload-offset': '0' } })
    patch.cut()
    await node.close()
    await site.close()
  })

  it.each([
    ['has just received bytes, however long it has held the lease', { sinceTouchMs: 0, isBehind: false }],
    ['has bytes that it has not read yet', { sinceTouchMs: 5000, isBehind: true }],
  ])('gives a last turn to a holder that %s', async (_, { sinceTouchMs, isBehind }) => {
    const site = await createSite(database())
    const terms = { turnMs: 9000, quietMs: 4000, pollMs: 10 }
    const { context, url: base, close } = await serveUploads(site.runtime, { terms })
    const client = tusClient({ url: base, pipeId: site.pipe.id, token: await site.token() })
    const fileId = fileIdOf(await client.begin(10))
    const { lease } = (await context.leases.take({ rowId: fileId, tokenId: null, plan: undefined }))!
    const told: string[] = []
    const waitsForUs = () => {
      if (isBehind) queueMicrotask(() => lease.touch())
      return false
    }
    lease.onStop((why) => told.push(why), { atomic: false, waitsForUs })
    elapse(10_000 - sinceTouchMs)
    lease.touch()
    elapse(sinceTouchMs)
    const free = context.leases.waitUntilFree(lease)
    await vi.waitFor(() => expect(lease.wanted).toBe(true), 20_000)
    for (const _ of ['its sockets are heard', 'it is told']) await new Promise(setImmediate)
    expect(told).toEqual([])
    await releaseLease(context, lease, { interrupted: true })
    lease.forget()
    await free
    await close()
    await site.close()
  })

  it('is requested repeatedly, because a holder may have missed a request that arrived before it knew it held the lease', async () => {
    const site = await createSite(database())
    const { context, url: base, close } = await serveUploads(site.runtime)
    const client = tusClient({ url: base, pipeId: site.pipe.id, token: await site.token() })
    const url = await client.begin(10)
    const fileId = fileIdOf(url)
    const { promise: asked, resolve: hasAsked } = Promise.withResolvers<void>()
    const unlisten = await database().listen(LEASE_CHANNEL, (word) => {
      if (word === `stop:${fileId}:1`) hasAsked()
    })
    const claim = context.leases.newClaim()
    await takeLease(context, claim, { rowId: fileId, tokenId: null, plan: undefined })
    const heading = client.head(url)
    await asked
    const lease = context.leases.adopt({ ...claim, rowId: fileId, fence: 1 })
    const stopped = new Promise((resolve) => lease.onStop(resolve))
    expect(await Promise.race([stopped, heading])).toBe('preempted')
    await releaseLease(context, lease, { interrupted: true })
    lease.forget()
    expect((await heading).status).toBe(200)
    await unlisten()
    await close()
    await site.close()
  })
})
