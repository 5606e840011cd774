import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestDatabase } from '../../../test/support/databases.ts'
import { fileIdOf, openPatch, type TusClient } from '../../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../../test/support/upload-site.ts'
import { type DatabaseHandle, rows } from '../../platform/db/database.ts'
import { openUpload } from '../opening/open-upload.ts'
import { PartBuffer } from './part-buffer.ts'
import { Parts } from './parts.ts'

const MiB = 1024 * 1024
const whole = randomBytes(30 * MiB)
describe('parts in flight', () => {
  let database: DatabaseHandle
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  let client: TusClient
  beforeAll(async () => {
    database = await openTestDatabase()
    site = await createSite(database)
    node = await serveUploads(site.runtime, { terms: { lateResponseMs: 10 } })
    client = await site.client(node)
  })
  afterAll(async () => {
    await node?.close()
    await site?.close()
    await database?.close()
  })

  /** An upload with one part and a 1 MiB tail. */
  const begin = async () => {
    const url = await client.begin(whole.length)
    expect((await client.patch(url, 0, whole.subarray(0, 9 * MiB))).status).toBe(204)
    return url
  }
  const seen = async (condition: () => Promise<boolean> | boolean) => {
    while (!(await condition())) await new Promise(setImmediate)
  }
  const waitingForLocks = async () => {
    const look = sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    return (await rows(database.db, look)).length
  }
  /** Holds the lock until the returned function releases it. */
  const locked = async (lock: ReturnType<typeof sql>) => {
    const held = Promise.withResolvers<void>()
    const letGo = Promise.withResolvers<void>()
    const done = database.db.transaction(async (tx) => {
      await tx.execute(lock)
      held.resolve()
      await letGo.promise
    })
    await held.promise
    return () => {
      letGo.resolve()
      return done
    }
  }

  it.each(['was interrupted', 'did not match its checksum'])(
    'are not sent once their numbers are free, after a body %s',
    async (how) => {
      const url = await begin()
      const body = whole.subarray(9 * MiB, 18 * MiB)
      const sum = createHash('sha1')
        .update(how === 'was interrupted' ? body : whole)
        .digest('base64')
      const headers = { 'Upload-Checksum': `sha1 ${sum}` }
      const patch = openPatch(client, url, { offset: 9 * MiB, length: body.length, headers })
      const file = sql`id = ${fileIdOf(url)}::uuid`
      const leased = sql`select 1 from files where ${file} and lease_until is not null`
      await seen(async () => (await rows(database.db, leased)).length > 0)
      const returnTails = await locked(sql`lock table upload_tails in access exclusive mode`)
      await patch.write(body.subarray(0, 8 * MiB))
      await seen(async () => (await waitingForLocks()) === 1)
      const returnFile = await locked(sql`select 1 from files where ${file} for update`)
      if (how === 'was interrupted') patch.cut()
      else await patch.write(body.subarray(8 * MiB))
      await seen(async () => (await waitingForLocks()) === 2)
      const second = { operation: 'UploadPart', key: `${fileIdOf(url)}/file`, partNumber: 2 } as const
      const { usedBytes } = node.context.budget
      await returnTails()
      // The tail has been read, and stays in memory while it is being sent.
      await seen(
        () => node.context.budget.usedBytes < usedBytes || site.bucket.traffic.seen(second).length > 0,
      )
      await returnFile()
      expect((await client.head(url)).headers['upload-offset']).toBe(String(9 * MiB))
      expect(site.bucket.traffic.seen(second)).toEqual([])
      await client.terminate(url)
    },
  )

  it('stop waiting for memory once they are disposed of', async () => {
    const url = await begin()
    const { context } = node
    const right = await context.rights.toContinue(client.token, {
      pipeId: site.pipe.id,
      fileId: fileIdOf(url),
    })
    const upload = (await openUpload(context, right, { bytes: 8 * MiB }))!
    const { memory } = upload
    const unaborted = new AbortController().signal
    const heldBefore = context.budget.usedBytes
    let bytes = 0
    for (; !memory.full; bytes += MiB) memory.take(MiB)
    const giveBack = await memory.reserve(MiB, unaborted)
    const parts = new Parts(context, upload, { atomic: false })
    const buffer = new PartBuffer(memory)
    buffer.push(whole.subarray(9 * MiB, 16 * MiB), 0)
    parts.send(buffer)
    await new Promise(setImmediate)
    parts.dispose()
    memory.give(bytes)
    giveBack()
    expect(context.budget.usedBytes).toBe(heldBefore)
    await parts.responded()
    upload.lease.forget()
    await client.terminate(url)
  })
})
