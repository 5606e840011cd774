import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { DemoDocument } from '#lib/dashboard/demo/ensure-demo.ts'
import { type Db, rows } from '#lib/platform/db/database.ts'
import { openDatabase } from '#lib/platform/db/open-database.ts'
import { createLogger } from '#lib/platform/log/log.ts'
import { lapseLeases } from '#lib/uploads/ledger/lease-rows.ts'
import { httpCall } from '../../test/support/http-call.ts'
import {
  commandOf,
  descendantsOf,
  isAlive,
  type Sluice,
  startSluice,
  temporaryFolder,
} from '../../test/support/sluice.ts'
import { fileIdOf, openPatch, type TusClient, tusClient } from '../../test/support/tus-client.ts'

/** Several processes behind one port, with an embedded database owned by their supervisor. */
const MiB = 1024 * 1024
const folder = temporaryFolder()
let sluice: Sluice
let demo: DemoDocument
let client: TusClient

const start = (env: Record<string, string> = {}) =>
  startSluice({ DATA_DIR: folder.path, PROCESSES: '2', ACCESS_LOG: 'all', LOG_LEVEL: 'warn', ...env })

beforeAll(async () => {
  sluice = await start()
  demo = JSON.parse(readFileSync(join(folder.path, 'demo.json'), 'utf8')) as DemoDocument
  client = tusClient({ url: sluice.baseUrl, pipeId: demo.pipeId, token: await newToken() })
})
afterAll(async () => {
  await sluice?.kill()
  folder[Symbol.dispose]()
})

async function callApi<Answer>(path: string, { key, body }: { key: string; body?: object }): Promise<Answer> {
  const answer = await fetch(`${sluice.baseUrl}/api/v1${path}`, {
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  })
  return (await answer.json()) as Answer
}

const newToken = async () =>
  (await callApi<{ token: string }>('/tokens', { key: demo.senderToken, body: { pipeId: demo.pipeId } }))
    .token

/**
 * Kills all processes at the same time, and waits until the metrics of the supervisor and its four processes show that
 * they have restarted.
 */
async function killAll(): Promise<void> {
  for (const pid of descendantsOf(sluice.pid))
    if (commandOf(pid).includes('server.ts')) process.kill(pid, 'SIGKILL')
  const running = () => counted('sluice_build_info').catch(() => 0)
  await expect.poll(running, { timeout: 120_000 }).not.toBe(5)
  await expect.poll(running, { timeout: 120_000 }).toBe(5)
}

/** Runs a test's own queries while the processes use the database. */
async function inDatabase<Result>(work: (db: Db) => Promise<Result>): Promise<Result> {
  const { db, close } = await openDatabase(
    { dataDir: folder.path },
    { log: createLogger('silent'), share: true },
  )
  return work(db).finally(close)
}

async function leased(url: string): Promise<boolean> {
  const look = sql`select lease_until > now() as leased from files where id = ${fileIdOf(url)}::uuid`
  return (await inDatabase((db) => rows<{ leased: boolean }>(db, look)))[0]!.leased === true
}

type Line = { process?: string; route?: string; client?: string; status?: number }
const requestsOf = (route: string) =>
  sluice
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line)
    .filter((line) => line.route === route)

const statusOf = async (url: string) =>
  (await callApi<{ status: string }>(`/files/${fileIdOf(url)}`, { key: demo.accountKey })).status

async function counted(name: string): Promise<number> {
  const headers = { authorization: `Bearer ${demo.metricsToken}` }
  const text = await (await fetch(`${sluice.baseUrl}/metrics`, { headers })).text()
  return Number(text.match(new RegExp(`^${name}(?:{.*})? (\\S+)$`, 'm'))?.[1])
}

it('serves pages and the API with one process, and uploads with each in turn', async () => {
  const forged = { 'x-forwarded-for': '203.0.113.9' }
  const page = await fetch(`${sluice.baseUrl}/login`, { headers: forged })
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect((await fetch(`${sluice.baseUrl}/readyz`)).status).toBe(200)
  for (let n = 0; n < 24; n++) expect((await client.create(1000, {}, randomBytes(1000))).status).toBe(201)
  await expect.poll(() => requestsOf('/login')).toHaveLength(1)
  expect(requestsOf('/login')[0]).toMatchObject({ process: 'web', status: 200, client: '127.0.0.1' })
  await expect.poll(() => requestsOf('/pipes/:id/files/')).toHaveLength(24)
  const by = Map.groupBy(requestsOf('/pipes/:id/files/'), ({ process }) => process)
  expect([...by.keys()].sort()).toEqual(['upload-1', 'upload-2'])
  const shares = [...by.values()].map(({ length }) => length)
  expect(Math.max(...shares) / Math.min(...shares)).toBeLessThanOrEqual(1.5)
})

it('loses no uploads and no metrics when processes are killed', { tags: 'long' }, async () => {
  const whole = randomBytes(3 * MiB)
  const url = await client.begin(whole.length)
  const cut = openPatch(client, url, { offset: 0, length: whole.length })
  await cut.write(whole.subarray(0, MiB))
  await client.create(10_000, {}, randomBytes(10_000))
  const before = await counted('sluice_upload_bytes_total')
  expect(before).toBeGreaterThanOrEqual(10_000)
  await killAll()
  // Expires the leases, so that the test does not have to wait.
  await inDatabase(lapseLeases)
  let offset = 0
  while (offset < whole.length) {
    const head = await client.head(url)
    offset = Number(head.headers['upload-offset'] ?? 0)
    if (head.status === 200) await client.patch(url, offset, whole.subarray(offset))
  }
  await expect.poll(() => statusOf(url)).toBe('transferred')
  expect(await counted('sluice_upload_bytes_total')).toBeGreaterThan(before)
})

it('closes a connection that was being passed to a killed process', { tags: 'long' }, async () => {
  const frozen = descendantsOf(sluice.pid).find((pid) => commandOf(pid).endsWith('server.ts upload-1'))!
  process.kill(frozen, 'SIGSTOP')
  let done = 0
  const count = () => void done++
  for (let n = 0; n < 4; n++) httpCall({ method: 'GET', url: `${sluice.baseUrl}/healthz` }).then(count, count)
  // The frozen process is handed one connection, and no other until it has accepted that one.
  await expect.poll(() => done).toBe(3)
  process.kill(frozen, 'SIGKILL')
  await expect.poll(() => done).toBe(4)
})

it('releases no lease when a process restarts', { tags: 'long' }, async () => {
  const url = await client.begin(1000)
  // Sets a lease like that of a live node, which no process here renews.
  await inDatabase((db) =>
    db.execute(
      sql`update files set lease_until = now() + interval '1 hour' where id = ${fileIdOf(url)}::uuid`,
    ),
  )
  const worker = () => descendantsOf(sluice.pid).find((pid) => /server\.ts worker$/.test(commandOf(pid)))
  const killed = worker()!
  process.kill(killed, 'SIGKILL')
  await expect.poll(() => worker() ?? killed).not.toBe(killed)
  await expect.poll(() => counted('sluice_build_info'), { timeout: 120_000 }).toBe(5)
  expect(await leased(url)).toBe(true)
})

/** Starts an upload whose body does not end, so that a process keeps its lease. */
async function hold(): Promise<string> {
  const url = await client.begin(MiB)
  const patch = openPatch(client, url, { offset: 0, length: MiB })
  await patch.write(randomBytes(1000))
  await expect.poll(() => leased(url)).toBe(true)
  return url
}

it('every process exits with its supervisor, and the next start releases their leases', {
  tags: 'long',
}, async () => {
  const url = await hold()
  const many = descendantsOf(sluice.pid)
  await sluice.kill()
  await expect.poll(() => many.filter(isAlive)).toEqual([])
  sluice = await start({ ROLES: 'upload', PORT: new URL(sluice.baseUrl).port })
  expect(await leased(url)).toBe(false)
  expect((await client.head(url)).status).toBe(200)
})

it('drains all processes on SIGTERM, and accepts files as large as one process does', {
  tags: 'long',
}, async () => {
  const url = await hold()
  const limit = await counted('sluice_upload_memory_limit_bytes')
  const maxSize = async () =>
    (await fetch(client.collection, { method: 'OPTIONS' })).headers.get('tus-max-size')
  const [many, size] = [descendantsOf(sluice.pid), await maxSize()]
  expect(await sluice.stop()).toBe(0)
  expect(many.filter(isAlive)).toEqual([])
  sluice = await start({
    ROLES: 'upload',
    PROCESSES: '1',
    PORT: new URL(sluice.baseUrl).port,
    UPLOAD_MEMORY_BYTES: String(limit),
  })
  expect((await client.head(url)).headers['upload-offset']).toBe('1000')
  expect(await maxSize()).toBe(size)
  expect(await sluice.stop()).toBe(0)
})
