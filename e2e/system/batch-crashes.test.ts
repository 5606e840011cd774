import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BATCH_CHECKPOINTS } from '#lib/batches/complete-batches.ts'
import { sealNamedBatch } from '#lib/batches/seal-batch.ts'
import { type DatabaseHandle, rows } from '#lib/platform/db/database.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { createOutput } from '#lib/webhooks/outputs/save-output.ts'
import { outputInput } from '#lib/webhooks/outputs/webhook-output.ts'
import { openTestDatabase } from '../../test/support/databases.ts'
import { longUnless } from '../../test/support/long.ts'
import { nodesOn } from '../../test/support/start-upload-node.ts'
import { type TusClient, tusClient } from '../../test/support/tus-client.ts'
import { createSite, type Site } from '../../test/support/upload-site.ts'

const BYTES = 1000
let database: DatabaseHandle & { url: string }
let site: Site
const start = nodesOn(() => database)

beforeAll(async () => {
  database = await openTestDatabase()
  site = await createSite(database)
  const asked = { url: 'http://127.0.0.1:1/hook', events: ['batch.completed'] }
  await createOutput(site.runtime, site.actor, {}, parseInput(outputInput, asked))
})
afterAll(async () => {
  await site?.close()
  await database?.close()
})

const told = async (name: string) => {
  const look = sql`select (payload::json->'data'->>'total')::int as total, (payload::json->'data'->>'transferred')::int as transferred,
      (select count(*)::int from deliveries d where d.event_id = e.id) as deliveries
    from events e where e.kind = 'batch.completed' and payload::json->'data'->>'batch' = ${name}`
  return rows(database.db, look)
}
const seal = (batch: string) =>
  sealNamedBatch(site.runtime, site.sender.token, { pipeId: site.pipe.id, batch })
/** Acts like common clients: requests the offset and sends the rest until everything has arrived. */
async function resume(client: TusClient, url: string, whole: Buffer): Promise<void> {
  for (;;) {
    const head = await client.head(url)
    if (head.status === 423) continue
    expect(head.status).toBe(200)
    const offset = Number(head.headers['upload-offset'])
    if (offset === whole.length) return
    await client.patch(url, offset, whole.subarray(offset))
  }
}

const ONCE = [{ total: 3, transferred: 3, deliveries: 1 }]
const POLL = { timeout: 60_000, interval: 100 }

describe('kill -9 of a node that reports a batch', () => {
  for (const [at, killAt] of BATCH_CHECKPOINTS.entries())
    it(`after "${killAt}": a surviving node reports the batch once`, longUnless(at === 0), async () => {
      const doomed = await start({ killAt })
      const client = await site.client(doomed, { batch: killAt })
      for (let n = 0; n < 3; n += 1) {
        const url = await client.begin(BYTES)
        expect((await client.patch(url, 0, randomBytes(BYTES))).status).toBe(204)
      }
      await seal(killAt)
      await doomed.ended
      await Promise.all([start(), start()])
      await expect.poll(() => told(killAt), POLL).toEqual(ONCE)
      const marks = sql`select completed_at is not null as done from batches where name = ${killAt}`
      expect(await rows(database.db, marks)).toEqual([{ done: true }])
    })

  for (const killAt of ['object put', 'transferred', 'upload created'] as const) {
    const name = `after "${killAt}" of one of its files: the batch is reported once, when that file has ended`
    it(name, longUnless(killAt === 'object put'), async () => {
      const [doomed, survivor] = [await start({ killAt }), await start()]
      const name = `files ${killAt}`
      const at = { pipeId: site.pipe.id, token: await site.token({ batch: name }) }
      const client = tusClient({ ...at, url: survivor.url })
      const first = await client.begin(BYTES)
      const second = await client.begin(BYTES)
      const whole = randomBytes(BYTES)
      await client.patch(first, 0, whole)
      const cut = tusClient({ ...at, url: doomed.url })
      if (killAt === 'upload created') await cut.create(0).catch(() => {})
      else await cut.patch(second.replace(survivor.url, doomed.url), 0, whole).catch(() => {})
      await doomed.ended
      await seal(name)
      await start({ clockAheadMs: 60_000 })
      await resume(client, second, whole)
      const total = killAt === 'upload created' ? 3 : 2
      await expect.poll(() => told(name), POLL).toEqual([{ total, transferred: total, deliveries: 1 }])
    })
  }
})
