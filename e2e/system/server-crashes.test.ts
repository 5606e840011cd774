import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type DatabaseHandle, rows } from '#lib/platform/db/database.ts'
import type { Fault } from '../../test/support/bucket-faults.ts'
import { openTestDatabase } from '../../test/support/databases.ts'
import { freePort } from '../../test/support/postgres.ts'
import { type Receiver, startReceiver } from '../../test/support/receiver.ts'
import { startSluice } from '../../test/support/sluice.ts'
import { fileIdOf, openPatch, type TusClient, tusClient } from '../../test/support/tus-client.ts'
import { createSite, type Site } from '../../test/support/upload-site.ts'
import { addOutput } from '../../test/support/webhook-rows.ts'

/** Kills the server, as run by `npm start`, with kill -9: an upload node and a worker, each in its own process. */
const MiB = 1024 * 1024
let database: DatabaseHandle & { url: string }
let site: Site
let receiver: Receiver

beforeAll(async () => {
  database = await openTestDatabase()
  site = await createSite(database)
  receiver = await startReceiver()
  await addOutput(database.db, receiver.url, { workspaceId: site.workspaceId, pipeId: site.pipe.id })
})
afterAll(async () => {
  await receiver?.stop()
  await site?.close()
  await database?.close()
})

function start(role: 'upload' | 'worker', port = 0) {
  return startSluice({
    ROLES: role,
    PORT: String(port),
    HOST: '127.0.0.1',
    BASE_URL: `http://localhost:${port}`,
    DATABASE_URL: database.url,
    DATA_DIR: '/nowhere/is-needed',
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    AUTH_SECRET: 'a secret of thirty-two characters',
    ALLOWED_PRIVATE_HOSTS: '*',
    LOG_LEVEL: 'warn',
  })
}

/** The request at which the bucket pauses while the server is killed, and the server's state at that moment. */
type Moment = { name: string; bytes: number; fault: Pick<Fault, 'operation' | 'at'> }
const MOMENTS: Moment[] = [
  { name: 'a part in progress', bytes: 20 * MiB, fault: { operation: 'UploadPart', at: 'body' } },
  {
    name: 'a part stored, without a response',
    bytes: 20 * MiB,
    fault: { operation: 'UploadPart', at: 'answer' },
  },
  { name: 'an object in progress', bytes: MiB, fault: { operation: 'PutObject', at: 'body' } },
  {
    name: 'an object stored, without a response',
    bytes: MiB,
    fault: { operation: 'PutObject', at: 'answer' },
  },
  {
    name: 'a Complete in progress',
    bytes: 20 * MiB,
    fault: { operation: 'CompleteMultipartUpload', at: 'request' },
  },
  {
    name: 'a Complete done, without a response',
    bytes: 20 * MiB,
    fault: { operation: 'CompleteMultipartUpload', at: 'answer' },
  },
]

type Begun = Moment & { url: string; whole: Buffer }

async function begin(client: TusClient, moment: Moment): Promise<Begun> {
  const whole = randomBytes(moment.bytes)
  const url = await client.begin(whole.length)
  const key = `${fileIdOf(url)}/file`
  site.bucket.faults.add({ ...moment.fault, key, effect: { kind: 'hold', gate: 'death' } })
  const patch = openPatch(client, url, { offset: 0, length: whole.length })
  void patch.write(whole)
  await site.bucket.traffic.until({ operation: moment.fault.operation as 'PutObject', key })
  if (moment.fault.at === 'answer' && moment.fault.operation !== 'UploadPart')
    await expect.poll(() => site.bucket.objects()).toContain(key)
  return { ...moment, url, whole }
}

/** Acts like a patient client: requests the offset and sends the rest until everything has arrived. */
async function finish(client: TusClient, { url, whole }: Begun): Promise<void> {
  for (;;) {
    const head = await client.head(url)
    if (head.status === 423) continue
    expect(head.status).toBe(200)
    const offset = Number(head.headers['upload-offset'])
    if (offset === whole.length) return
    await client.patch(url, offset, whole.subarray(offset))
  }
}

/** Expires the leases of killed processes without waiting, by moving them back in time by their duration. */
const lapseLeases = () =>
  database.db.execute(sql`update files set lease_until = lease_until - interval '15 seconds',
    complete_sent_at = complete_sent_at - interval '15 seconds'`)
const lapseClaims = () =>
  database.db.execute(sql`update deliveries set claimed_until = claimed_until - interval '30 seconds',
    next_attempt_at = next_attempt_at - interval '30 seconds' where claimed_until is not null`)

async function standingOf({ url }: Begun) {
  const look = sql`select f.status,
      (select count(*)::int from events where file_id = f.id) as events,
      (select array_agg(state) from deliveries where file_id = f.id) as deliveries,
      (select count(*)::int from file_timeline where file_id = f.id and kind = 'completed') as completions,
      (select count(*)::int from upload_tails where file_id = f.id) as tails
    from files f where id = ${fileIdOf(url)}::uuid`
  return (await rows(database.db, look))[0]
}

const eventsOf = ({ url }: Begun) =>
  receiver.received.filter(({ body }) => JSON.parse(body).data.file_id === fileIdOf(url))

it('kill -9 during an upload or its completion: each file arrives once, with one event', async () => {
  const port = await freePort()
  const [doomed, worker] = await Promise.all([start('upload', port), start('worker')])
  const base = { url: doomed.baseUrl, pipeId: site.pipe.id, token: await site.token() }
  const client = tusClient(base)
  const begun = await Promise.all(MOMENTS.map((moment) => begin(client, moment)))
  await doomed.kill()
  site.bucket.faults.clear()
  await lapseLeases()
  const next = await start('upload', port)
  await Promise.all(begun.map((one) => finish(client, one)))
  for (const one of begun) {
    await expect
      .poll(() => standingOf(one), { timeout: 90_000, interval: 200, message: one.name })
      .toEqual({ status: 'transferred', events: 1, deliveries: ['delivered'], completions: 1, tails: 0 })
    expect((await site.bucket.object(`${fileIdOf(one.url)}/file`)).equals(one.whole), one.name).toBe(true)
    expect(eventsOf(one), one.name).toHaveLength(1)
  }
  expect(await site.bucket.objects()).toHaveLength(begun.length)
  expect(await site.bucket.unfinished()).toEqual([])
  expect(await Promise.all([next.stop(), worker.stop()])).toEqual([0, 0])
})

it('kill -9 of the worker while a receiver has an event: the event is sent again with the same id and bytes', {
  tags: 'long',
}, async () => {
  const [node, doomed] = await Promise.all([start('upload'), start('worker')])
  const dead = Promise.withResolvers<void>()
  receiver.answerWith(() => void doomed.kill().then(dead.resolve))
  const client = tusClient({ url: node.baseUrl, pipeId: site.pipe.id, token: await site.token() })
  const whole = randomBytes(1000)
  const url = await client.begin(whole.length, {}, whole)
  await dead.promise
  receiver.answerWith(204)
  await lapseClaims()
  const next = await start('worker')
  const one = { url, whole } as Begun
  await expect
    .poll(() => standingOf(one), { timeout: 90_000, interval: 200 })
    .toEqual({ status: 'transferred', events: 1, deliveries: ['delivered'], completions: 1, tails: 0 })
  const [first, second, ...more] = eventsOf(one)
  expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id'])
  expect(second!.body).toBe(first!.body)
  expect(more).toEqual([])
  expect(await Promise.all([node.stop(), next.stop()])).toEqual([0, 0])
})
