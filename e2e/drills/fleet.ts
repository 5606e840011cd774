import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { migrate } from '#lib/platform/db/migrate.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { seconds } from '#lib/platform/kernel/clock.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { saveOutput } from '#lib/webhooks/outputs/save-output.ts'
import { outputInput } from '#lib/webhooks/outputs/webhook-output.ts'
import { createSenders } from '#lib/workspace/senders/many-senders.ts'
import { createGroup } from '#lib/workspace/senders/sender-groups.ts'
import { readOptions } from '../../scripts/read-options.ts'
import { tokenFor } from '../../test/support/begin-upload.ts'
import { connectFtp, put } from '../../test/support/ftp-site.ts'
import { createDatabase, freePort, startPostgres } from '../../test/support/postgres.ts'
import { type Receiver, startReceiver } from '../../test/support/receiver.ts'
import { type Sluice, startSluice, temporaryFolder } from '../../test/support/sluice.ts'
import { tusClient } from '../../test/support/tus-client.ts'
import { createSite, type Site } from '../../test/support/upload-site.ts'

/**
 * `npm run drill -- fleet`: a thousand devices each send a 300 kB picture within a minute to two nodes, half of them by
 * FTP and half by TUS, and one node is killed halfway. Devices that it served go on with the other. There must be one
 * object and one event for each picture, and meanwhile the p99 of a HEAD must stay below 300 ms.
 */
const PICTURE_BYTES = 300_000
const WITHIN_MS = seconds(60)
const LOOK_EVERY_MS = 50
const WARM_UPS = 200
const MOST_HEAD_MS = 300
const ATTEMPTS = 60
const RETRY_MS = seconds(1)

type Node = { sluice: Sluice; ftpPort: number; isUp: boolean }
type Device = { name: string; token: string; picture: Buffer; pipeId: string }

async function startNode(databaseUrl: string, folder: string): Promise<Node> {
  const ftpPort = await freePort()
  const sluice = await startSluice({
    HOST: '127.0.0.1',
    BASE_URL: 'http://127.0.0.1:0',
    DATABASE_URL: databaseUrl,
    DATA_DIR: folder,
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    AUTH_SECRET: 'a secret of thirty-two characters',
    ALLOWED_PRIVATE_HOSTS: '*',
    TRUSTED_PROXIES: '127.0.0.1',
    FREE_TIER_BYTES: '0',
    LOG_LEVEL: 'error',
    FTP_PORT: String(ftpPort),
    FTP_PLAIN: '1',
  })
  return { sluice, ftpPort, isUp: true }
}

/** What a camera does: it sends the picture, and after a failure asks how much arrived and sends the rest. */
async function sendByFtp({ ftpPort }: Node, { name, token, picture, pipeId }: Device): Promise<void> {
  const client = await connectFtp({ port: ftpPort, pipe: { id: pipeId } }, token, { secure: false })
  try {
    const arrived = await client.size(`${name}.jpg`).catch((error: unknown) => {
      if (String(error).includes('no such file')) return undefined
      throw error
    })
    if (arrived === undefined) await put(client, `${name}.jpg`, picture)
    else await client.appendFrom(Readable.from([picture.subarray(arrived)]), `${name}.jpg`)
  } catch (error) {
    if (!String(error).includes('already complete')) throw error
  } finally {
    client.close()
  }
}

/** Resumes at the same path on any node. The path of the upload is kept from the first attempt that was answered. */
function tusSender({ token, picture, pipeId }: Device): (node: Node) => Promise<void> {
  let path: string | undefined
  let tmp: string | undefined
  return async ({ sluice: { baseUrl } }) => {
    tmp ??= (await tokenFor(baseUrl, token, pipeId)).token
    const client = tusClient({ url: baseUrl, pipeId, token: tmp })
    path ??= new URL((await client.create(picture.length)).headers.location!).pathname
    const url = baseUrl + path
    const offset = Number((await client.head(url)).headers['upload-offset'])
    if (offset === picture.length) return
    const { status } = await client.patch(url, offset, picture.subarray(offset))
    if (status !== 204) throw new Error(`PATCH: ${status}`)
  }
}

/** Tries the device's own node first, and after a failure the other one. */
async function send(nodes: readonly Node[], n: number, device: Device): Promise<void> {
  const byTus = tusSender(device)
  for (let attempt = 0; ; attempt++) {
    const node = nodes[(Math.floor(n / 2) + attempt) % nodes.length]!
    try {
      if (!node.isUp) throw new Error('The node is down.')
      return await (n % 2 === 0 ? sendByFtp(node, device) : byTus(node))
    } catch (error) {
      if (attempt === ATTEMPTS) throw new Error(`${device.name} gave up`, { cause: error })
      await sleep(RETRY_MS)
    }
  }
}

/** Measures HEAD requests for one unfinished upload. The returned function stops, and returns the times. */
async function measureHeads(site: Site, { sluice: { baseUrl } }: Node): Promise<() => Promise<number[]>> {
  const client = tusClient({ url: baseUrl, pipeId: site.pipe.id, token: await site.token() })
  const url = baseUrl + new URL((await client.create(10)).headers.location!).pathname
  // A node that has just started is still compiling what answers them.
  for (let n = 0; n < WARM_UPS; n++) await client.head(url)
  const probe = fork(join(import.meta.dirname, 'probe-heads.ts'), [url, client.token], {
    serialization: 'advanced',
  })
  return async () => {
    probe.send('stop')
    const [took] = (await once(probe, 'message')) as [number[]]
    return took
  }
}

/** Webhooks are delivered at least once, so an event of the killed node may arrive twice. */
async function eventsOf(receiver: Receiver, count: number): Promise<Set<unknown>> {
  const until = performance.now() + WITHIN_MS
  for (;;) {
    const events = new Set(receiver.received.map(({ headers }) => headers['webhook-id']))
    if (events.size >= count || performance.now() > until) return events
    await sleep(LOOK_EVERY_MS)
  }
}

async function main(): Promise<boolean> {
  const { values } = readOptions('npm run drill -- fleet [--devices 1000]', {
    options: { devices: { type: 'string', default: '1000' } },
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
  const count = Number(values.devices)
  const postgres = await startPostgres()
  const { url: databaseUrl } = await createDatabase(postgres.url)
  const database = openPostgres({ address: databaseUrl, maxConnections: 8 })
  await migrate(database.db)
  using folder = temporaryFolder()
  using other = temporaryFolder()
  const site = await createSite(database, { pipe: { source: { http: true, ftp: true } } })
  const receiver = await startReceiver()
  await saveOutput(site.runtime, site.actor, site.pipe.id, parseInput(outputInput, { url: receiver.url }))
  const limits = { pipeIds: [site.pipe.id], sources: ['http' as const, 'ftp' as const] }
  const group = await createGroup(site.runtime, site.actor, { name: 'Cameras', ...limits })
  const names = Array.from({ length: count }, (_, n) => `camera-${n}`)
  const made = await createSenders(site.runtime, site.actor, { names, groupId: group.id })
  const nodes = [await startNode(databaseUrl, folder.path), await startNode(databaseUrl, other.path)] as const

  const stopHeads = await measureHeads(site, nodes[0])
  const startedAt = performance.now()
  const killed = sleep(WITHIN_MS / 2).then(() => {
    nodes[1].isUp = false
    return nodes[1].sluice.kill()
  })
  const sending = made.map(async ({ name, token }, n) => {
    await sleep((n / count) * WITHIN_MS)
    await send(nodes, n, { name, token, picture: randomBytes(PICTURE_BYTES), pipeId: site.pipe.id })
  })
  const outcomes = await Promise.allSettled([...sending, killed])
  const sentMs = performance.now() - startedAt
  const took = await stopHeads()
  const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
  const objects = (await site.bucket.objects()).length
  const events = await eventsOf(receiver, count)
  const p99 = took[Math.floor(took.length * 0.99)] ?? Infinity
  console.log(`${count} devices: ${objects} objects, ${events.size} events, ${failures.length} gave up`)
  console.log(`the last picture was sent after ${(sentMs / 1000).toFixed(1)} s`)
  console.log(
    `${took.length} HEAD requests: median ${took[took.length >> 1]?.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`,
  )
  for (const failure of failures.slice(0, 5)) console.log(failure)
  await nodes[0].sluice.kill()
  await receiver.stop()
  await site.close()
  await database.close()
  await postgres.stop()
  return failures.length === 0 && objects === count && events.size === count && p99 < MOST_HEAD_MS
}

process.exit((await main()) ? 0 : 1)
