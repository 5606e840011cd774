import { createCipheriv } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DatabaseHandle } from '#lib/platform/db/database.ts'
import { migrate } from '#lib/platform/db/migrate.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { readOptions } from '../../scripts/read-options.ts'
import { importOne, readImportRow, wantedStart } from '../../test/support/import-site.ts'
import { createDatabase, startPostgres } from '../../test/support/postgres.ts'
import { type Sluice, startSluice } from '../../test/support/sluice.ts'
import { createSite, type Site } from '../../test/support/upload-site.ts'

/**
 * `npm run drill -- import`: imports a large file from a source that drops its connection every 200 MB, while the two
 * nodes that fetch it are killed in turn. The object must equal the source, and each byte may only be fetched once,
 * apart from those in flight when a node died.
 */
const MiB = 1024 * 1024
const DROP_BYTES = 200_000_000
const ETAG = '"one"'
const METRICS_TOKEN = 'metrics-token-of-the-drill'
const LOOK_MS = 200

/** Generates the source's bytes starting at an offset, so that they need no disk space. */
function bytesFrom(offset: number): (length: number) => Buffer {
  const counter = Buffer.alloc(16)
  counter.writeBigUInt64BE(BigInt(Math.floor(offset / 16)), 8)
  const cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16, 7), counter)
  cipher.update(Buffer.alloc(offset % 16))
  return (length) => cipher.update(Buffer.alloc(length))
}

/**
 * Sends up to 200 MB per request. It records how far each request got, and how many of its bytes the next one requested
 * again.
 */
class Source {
  readonly #lengthBytes: number
  readonly #server = createServer((req, res) => void this.#send(req, res).catch(() => res.destroy()))
  readonly again: number[] = []
  sentBytes = 0
  requests = 0
  furthest = 0

  constructor(lengthBytes: number) {
    this.#lengthBytes = lengthBytes
  }

  async open(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/film.mp4`
  }

  close(): void {
    this.#server.close().closeAllConnections()
  }

  async #send(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const all = this.#lengthBytes
    const from = wantedStart(req, ETAG)
    if (this.requests > 0) this.again.push(this.furthest - from)
    this.requests += 1
    const range = from > 0 && { 'Content-Range': `bytes ${from}-${all - 1}/${all}` }
    const headers = { ETag: ETAG, 'Content-Type': 'video/mp4', 'Content-Length': all - from, ...range }
    res.writeHead(from > 0 ? 206 : 200, headers)
    const next = bytesFrom(from)
    const closed = once(res, 'close')
    const end = Math.min(all, from + DROP_BYTES)
    for (let at = from; at < end && !res.destroyed; ) {
      const piece = next(Math.min(MiB, end - at))
      at += piece.length
      this.sentBytes += piece.length
      this.furthest = at
      if (!res.write(piece)) await Promise.race([once(res, 'drain'), closed])
    }
    if (end === all) res.end()
    else res.socket?.end()
  }
}

type Nodes = { start(): Promise<Sluice>; both: Sluice[] }

/** Kills the node that is fetching, and restarts it once the other one has continued. */
async function killCarrier({ start, both }: Nodes, source: Source): Promise<void> {
  const at = await carrierOf(both)
  const { requests } = source
  await both[at]!.kill()
  while (source.requests === requests) await sleep(LOOK_MS)
  both[at] = await start()
}

async function carrierOf(nodes: Sluice[]): Promise<number> {
  for (;;) {
    for (const [at, { baseUrl }] of nodes.entries()) {
      const headers = { Authorization: `Bearer ${METRICS_TOKEN}` }
      const reply = await fetch(`${baseUrl}/metrics`, { headers })
      const text = await reply.text()
      if (!reply.ok) throw new Error(`no metrics: ${text}`)
      if (/^sluice_upload_requests_open [1-9]/m.test(text)) return at
    }
    await sleep(LOOK_MS)
  }
}

async function isEqual(site: Site, key: string, lengthBytes: number): Promise<boolean> {
  const next = bytesFrom(0)
  let bytes = 0
  for await (const piece of site.bucket.readObject(key) as AsyncIterable<Buffer>) {
    if (!next(piece.length).equals(piece)) return false
    bytes += piece.length
  }
  return bytes === lengthBytes
}

type Drill = {
  database: DatabaseHandle
  site: Site
  nodes: Nodes
  lengthBytes: number
  kills: number
}

async function drill({ database, site, nodes, lengthBytes, kills }: Drill): Promise<boolean> {
  const source = new Source(lengthBytes)
  const sinceMs = performance.now()
  const id = await importOne(site, { url: await source.open() })
  const lost: number[] = []
  for (let kill = 1; kill <= kills; kill++) {
    while (source.furthest < (lengthBytes * kill) / (kills + 1)) await sleep(LOOK_MS)
    const before = source.again.length
    await killCarrier(nodes, source)
    // The source also drops connections in between, so only the largest loss is attributed to the kill.
    lost.push(Math.max(...source.again.slice(before)))
    console.log(
      `      killed a node at ${(source.furthest / MiB).toFixed(0)} MiB: ${lost.at(-1)} bytes fetched again`,
    )
  }
  const rowOf = () => readImportRow(database.db, id)
  while (['uploading', 'transferring'].includes((await rowOf()).status)) await sleep(LOOK_MS)
  const took = (performance.now() - sinceMs) / 1000
  const { status, failureReason } = await rowOf()
  const equal = status === 'transferred' && (await isEqual(site, `${id}/film.mp4`, lengthBytes))
  const again = source.sentBytes - lengthBytes
  const byKills = lost.reduce((sum, bytes) => sum + bytes, 0)
  const well = equal && again === byKills && lost.every((bytes) => bytes <= DROP_BYTES)
  console.log(
    `${well ? 'ok  ' : 'FAIL'}  ${(lengthBytes / MiB).toFixed(0)} MiB, ${status} ${failureReason ?? ''}${equal ? 'and equal' : 'and NOT equal'} after ${took.toFixed(0)} s: ${source.requests} requests, ${kills} kills, ${again} bytes fetched again, ${byKills} of them after kills, at most ${Math.max(0, ...lost)} for one`,
  )
  source.close()
  return well
}

async function main(): Promise<boolean> {
  const { values } = readOptions('npm run drill -- import [--gib 10] [--kills 4]', {
    options: { gib: { type: 'string', default: '10' }, kills: { type: 'string', default: '4' } },
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
  const postgres = await startPostgres()
  const { url, drop } = await createDatabase(postgres.url)
  const database = openPostgres({ address: url, maxConnections: 4 })
  await migrate(database.db)
  const site = await createSite(database, { pipe: { source: { http: true, url: true } } })
  const start = () =>
    startSluice({
      ROLES: 'upload,worker',
      HOST: '127.0.0.1',
      BASE_URL: 'http://127.0.0.1:0',
      DATABASE_URL: url,
      DATA_DIR: '/nowhere/is-needed',
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      AUTH_SECRET: 'a secret of thirty-two characters',
      ALLOWED_PRIVATE_HOSTS: '*',
      LOG_LEVEL: 'warn',
      FREE_TIER_BYTES: '0',
      METRICS_TOKEN,
    })
  const both = await Promise.all([start(), start()])
  const lengthBytes = Number(values.gib) * 1024 * MiB
  const well = await drill({
    database,
    site,
    nodes: { start, both },
    lengthBytes,
    kills: Number(values.kills),
  })
  await Promise.all(both.map((node) => node.kill()))
  await site.close()
  await database.close()
  await drop()
  await postgres.stop()
  return well
}

process.exit((await main()) ? 0 : 1)
