import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { saveHook } from '#lib/hooks/pipe-hooks.ts'
import { type DatabaseHandle, rows } from '#lib/platform/db/database.ts'
import { DECISION_CHECKPOINTS } from '#lib/uploads/upload-context.ts'
import { openTestDatabase } from '../../test/support/databases.ts'
import { type Decider, openDecider } from '../../test/support/decider.ts'
import { longUnless } from '../../test/support/long.ts'
import { nodesOn, SHORT_TERMS } from '../../test/support/start-upload-node.ts'
import { fileIdOf, type TusClient } from '../../test/support/tus-client.ts'
import { createSite, type Site } from '../../test/support/upload-site.ts'

const MiB = 1024 * 1024
const REASON = 'It has a virus.'
let database: DatabaseHandle & { url: string }
let site: Site
let decider: Decider
const start = nodesOn(() => database)

beforeAll(async () => {
  database = await openTestDatabase()
  site = await createSite(database)
  decider = await openDecider()
  const hook = { url: decider.url, enabled: true, timeoutSeconds: 1, withoutAnswer: 'refuse' as const }
  await saveHook(site.runtime, site.actor, { pipeId: site.pipe.id, hook: 'before_complete' }, hook)
})
afterEach(async () => {
  decider.reset()
})
afterAll(async () => {
  await decider?.close()
  await site?.close()
  await database?.close()
})

/**
 * Acts like common clients: requests the offset and sends the rest, until the server confirms the file or gives the
 * reason for rejecting it.
 */
async function finish(client: TusClient, url: string, whole: Buffer): Promise<string | undefined> {
  for (;;) {
    const head = await client.head(url)
    if (head.status === 423) continue
    expect(head.status).toBe(200)
    const offset = Number(head.headers['upload-offset'])
    if (offset === whole.length) return undefined
    const { status, body } = await client.patch(url, offset, whole.subarray(offset))
    if (status === 403) return JSON.parse(body).detail
  }
}

const outcome = async (url: string) => {
  const look = sql`select status, (select count(*)::int from events where file_id = f.id) as events,
    (select count(*)::int from upload_tails where file_id = f.id) as tails,
    (select json_agg(state) from file_decisions where file_id = f.id) as decisions
    from files f where id = ${fileIdOf(url)}::uuid`
  return (await rows(database.db, look))[0]
}

/** The checkpoints around a decision; upload-crashes.test.ts covers those before it. */
const POINTS = [...DECISION_CHECKPOINTS, 'complete answered', 'transferred'] as const
const CASES = [
  ...POINTS.map((at) => [at, 20 * MiB] as const),
  ...(['decision answered', 'decided', 'object put', 'transferred'] as const).map((at) => [at, MiB] as const),
]

describe('kill -9 while a hook decides about a file', () => {
  for (const [killAt, bytes] of CASES) {
    const name = `after "${killAt}" of a file of ${bytes} bytes: one decision is stored, and the object is created once`
    it(name, longUnless(killAt === 'decided' && bytes === MiB), async () => {
      const whole = randomBytes(bytes)
      const doomed = await start({ killAt })
      const client = await site.client(doomed)
      const url = await client.begin(bytes)
      await client.patch(url, 0, whole).catch(() => {})
      await doomed.ended
      await start({ port: doomed.port, clockAheadMs: 60_000 })
      expect(await finish(client, url, whole)).toBeUndefined()
      await expect
        .poll(() => outcome(url), { timeout: 60_000, interval: 100 })
        .toEqual({ status: 'transferred', events: 1, tails: 0, decisions: ['allowed'] })
      expect((await site.bucket.object(`${fileIdOf(url)}/file`)).equals(whole)).toBe(true)
      const isStored = killAt !== 'decision answered'
      expect(decider.asked).toHaveLength(isStored ? 1 : 2)
      expect(new Set(decider.asked.map(({ body }) => body)).size).toBe(1)
    })
  }

  for (const killAt of ['decision answered', 'decided'] as const) {
    const name = `after "${killAt}" of a rejection: the client gets the reason each time`
    it(name, longUnless(killAt === 'decided'), async () => {
      decider.answer = () => ({ allow: false, reason: REASON })
      const whole = randomBytes(MiB)
      const doomed = await start({ killAt })
      const client = await site.client(doomed)
      const url = await client.begin(whole.length)
      await client.patch(url, 0, whole).catch(() => {})
      await doomed.ended
      await start({ port: doomed.port, clockAheadMs: 60_000 })
      for (let n = 0; n < 2; n += 1) expect(await finish(client, url, whole)).toBe(REASON)
      expect(await outcome(url)).toEqual({ status: 'failed', events: 1, tails: 0, decisions: ['rejected'] })
      expect(await site.bucket.objects()).not.toContain(`${fileIdOf(url)}/file`)
    })
  }

  it('after "decided" of a deferral: only an API call decides about the file', async () => {
    decider.answer = () => ({ defer: true })
    const whole = randomBytes(MiB)
    const doomed = await start({ killAt: 'decided' })
    const client = await site.client(doomed)
    const url = await client.begin(whole.length)
    await client.patch(url, 0, whole).catch(() => {})
    await doomed.ended
    await start({ port: doomed.port, clockAheadMs: 60_000, terms: { ...SHORT_TERMS, decideMs: 300 } })
    expect(await client.offset(url)).toBe(whole.length - 1)
    const last = await client.patch(url, whole.length - 1, whole.subarray(-1))
    expect(last).toMatchObject({ status: 204, headers: { 'upload-offset': String(whole.length - 1) } })
    expect(await outcome(url)).toMatchObject({ status: 'transferring', decisions: ['deferred'] })
    expect(decider.asked).toHaveLength(1)
  })
})
