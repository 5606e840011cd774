import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { attempts, deliveries, events } from '#drizzle/schema/index.ts'
import { writeEvents } from '#lib/events/write-events.ts'
import { type DatabaseHandle, rows } from '#lib/platform/db/database.ts'
import { uuidv7 } from '#lib/platform/kernel/ids.ts'
import { openTestDatabase } from '../../test/support/databases.ts'
import { dispatching } from '../../test/support/dispatching.ts'
import { type Receiver, startReceiver } from '../../test/support/receiver.ts'
import { testRuntime } from '../../test/support/runtime.ts'
import { addOutput } from '../../test/support/webhook-rows.ts'

const LONG_MS = 600_000
/** Set `EVENTS=10000` for a longer run. */
const EVENTS = Number(process.env.EVENTS ?? 300)
const OUTPUTS = 20
/** This many requests in total get a bad response, at random; then the receivers recover. */
const BAD_REQUESTS = 0.6 * EVENTS

let database: DatabaseHandle
let receiver: Receiver
beforeAll(async () => {
  database = await openTestDatabase()
  receiver = await startReceiver()
})
afterAll(async () => {
  await receiver?.stop()
  await database?.close()
})

it(`delivers ${EVENTS} events to receivers that fail at random for a while, and the attempt log is consistent`, {
  timeout: LONG_MS,
}, async () => {
  const runtime = testRuntime(database)
  const worker = dispatching(runtime)
  const accepted = new Map<string, number>()
  let bad = 0
  receiver.answerWith(({ headers }, res) => {
    if (bad < BAD_REQUESTS && Math.random() < 0.6) {
      bad += 1
      const kind = Math.random()
      if (kind < 0.3) res.socket!.destroy()
      else if (kind < 0.6) res.writeHead(500).end('no')
      else if (kind < 0.8) res.writeHead(429, { 'Retry-After': '7' }).end()
      else res.writeHead(302, { Location: 'https://elsewhere.example' }).end()
      return
    }
    const id = String(headers['webhook-id'])
    accepted.set(id, (accepted.get(id) ?? 0) + 1)
    res.writeHead(204).end()
  })

  const outputs = await Promise.all(
    Array.from({ length: OUTPUTS }, () => addOutput(runtime.db, receiver.url)),
  )
  const ids = await emitAll(
    runtime,
    outputs.map((output) => ({ ...output, url: receiver.url })),
  )
  await worker.work()
  for (let rounds = 0; (await pending()) > 0; rounds++) {
    expect(rounds).toBeLessThan(12)
    await worker.later(rounds < 2 ? 60_000 : 3_600_000)
  }

  // No event was lost, and each was accepted once: no worker died, so nothing was sent again after a 2xx.
  expect(accepted.size).toBe(EVENTS)
  expect(ids.every((id) => accepted.get(id) === 1)).toBe(true)
  const states = await rows(runtime.db, sql`select state, count(*)::int as n from deliveries group by state`)
  expect(states).toEqual([{ state: 'delivered', n: EVENTS }])
  const [log] = await rows(
    runtime.db,
    sql`select (select count(*)::int from ${attempts}) as attempts,
      (select count(*)::int from ${attempts} where ${eq(attempts.status, 204)}) as accepted,
      (select sum(${deliveries.attemptCount})::int from ${deliveries}) as counted,
      (select count(*)::int from ${events}) as events`,
  )
  expect(log).toEqual({
    attempts: receiver.received.length,
    accepted: EVENTS,
    counted: receiver.received.length,
    events: EVENTS,
  })
  expect(receiver.received.length).toBe(EVENTS + bad)
  expect(bad).toBe(BAD_REQUESTS)

  function pending(): Promise<number> {
    return rows<{ n: number }>(
      runtime.db,
      sql`select count(*)::int as n from deliveries where state = 'pending'`,
    ).then(([row]) => row!.n)
  }
})

type Output = { id: string; workspaceId: string; pipeId: string; url: string }

/** Writes the events as an upload would, but many per transaction. */
async function emitAll(runtime: ReturnType<typeof testRuntime>, outputs: Output[]): Promise<string[]> {
  const share = EVENTS / outputs.length
  const written = outputs.map((output) =>
    runtime.db.transaction(async (tx) => {
      const ids: string[] = []
      for (let n = 0; n < share; n++) {
        const at = new Date(runtime.clock.now())
        const id = uuidv7(at.getTime())
        const body = JSON.stringify({ id, event: 'file.status_changed', data: { n } })
        await writeEvents(
          tx,
          runtime.queue,
          [{ ...output, id, kind: 'file.status_changed', body, to: [output], missed: null }],
          at,
        )
        ids.push(id)
      }
      return ids
    }),
  )
  return (await Promise.all(written)).flat()
}
