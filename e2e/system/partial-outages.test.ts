/** @module-tag long */
import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { migrate } from '#lib/platform/db/migrate.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { startOwnPostgres } from '../../test/support/postgres.ts'
import { type Sluice, startSluice, temporaryFolder } from '../../test/support/sluice.ts'
import { openTroubledLine } from '../../test/support/tcp-proxies.ts'
import { fileIdOf, type TusClient, tusClient } from '../../test/support/tus-client.ts'
import { createSite } from '../../test/support/upload-site.ts'

/**
 * Tests a database that only partly works: clients are asked to wait and lose nothing, and the log reports the problem
 * once.
 */
const MAX_CONNECTIONS = 60
const PIECE = 100_000

const closing: (() => unknown)[] = []
let server: Awaited<ReturnType<typeof startOwnPostgres>>
let line: Awaited<ReturnType<typeof openTroubledLine>>
let site: Awaited<ReturnType<typeof createSite>>
let sluice: Sluice
let client: TusClient

beforeAll(async () => {
  server = await startOwnPostgres({ fsync: 'off', max_connections: MAX_CONNECTIONS, shared_buffers: '64MB' })
  line = await openTroubledLine(server.url)
  const database = openPostgres({ address: server.url })
  await migrate(database.db)
  site = await createSite(database)
  const folder = temporaryFolder()
  sluice = await startSluice({
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    AUTH_SECRET: 'a'.repeat(40),
    BASE_URL: 'http://localhost:0',
    HOST: '127.0.0.1',
    ALLOWED_PRIVATE_HOSTS: '*',
    FREE_TIER_BYTES: '0',
    ACCESS_LOG: 'off',
    DATABASE_URL: line.url,
    DATA_DIR: folder.path,
    ROLES: 'upload,worker',
  })
  client = tusClient({ url: sluice.baseUrl, pipeId: site.pipe.id, token: await site.token() })
  await database.close()
  closing.push(
    () => folder[Symbol.dispose](),
    server.stop,
    () => site.bucket.close(),
    line.close,
    sluice.stop,
  )
})
afterAll(async () => {
  for (const close of closing.reverse()) await close()
})

type Trouble = { name: string; rounds: number; begin(): unknown; end(): unknown }

const others: ReturnType<typeof postgres>[] = []
const TROUBLES: Trouble[] = [
  {
    name: 'that responds after five seconds',
    rounds: 1,
    begin: () => line.make({ lateMs: 5000 }),
    end: () => line.make({}),
  },
  {
    name: 'that breaks every tenth connection',
    rounds: 3,
    begin() {
      line.make({ breakEvery: 10 })
      line.cutAll()
    },
    end: () => line.make({}),
  },
  {
    name: 'whose connections are used up by another program',
    rounds: 3,
    async begin() {
      // Otherwise, the server would reconnect before they are used up, and rightly log a second outage.
      line.make({ breakEvery: 1 })
      line.cutAll()
      for (let connected = true; connected; ) {
        const other = postgres(server.url, { max: 1, onnotice: () => {} })
        others.push(other)
        connected = await other`select 1`.then(
          () => true,
          () => false,
        )
      }
      line.make({})
    },
    end: () => Promise.all(others.map((other) => other.end({ timeout: 0 }))),
  },
]

it.each(TROUBLES)('loses nothing with a database $name', async ({ rounds, begin, end }) => {
  const from = sluice.output().length
  const whole = randomBytes(5 * PIECE)
  const urls: string[] = []
  for (let n = 0; n < 4; n++) urls.push(await client.begin(whole.length))
  await begin()
  const answers = await Promise.all(urls.map((url) => during(url, whole, rounds)))
  for (const { method, status } of answers.flat())
    expect(ALLOWED[method], `${method} ${status}`).toContain(status)
  await end()
  for (const url of urls) {
    await expect.poll(() => goOn(url, whole)).toBe('done')
    expect((await site.bucket.object(`${fileIdOf(url)}/file`)).equals(whole)).toBe(true)
  }
  expect(loud(from).length, loud(from).join('\n')).toBeLessThanOrEqual(2)
})

const ALLOWED: Record<string, number[]> = {
  POST: [201, 423, 503],
  HEAD: [200, 423],
  PATCH: [204, 409, 423, 503],
}

/** Acts like a persistent client: requests the offset, sends a piece, and starts another upload. */
async function during(url: string, whole: Buffer, rounds: number) {
  const answers: { method: string; status: number }[] = []
  for (let round = 0, at = 0; round < rounds; round++) {
    const [head, patch, post] = await Promise.all([
      client.head(url),
      client.patch(url, at, whole.subarray(at, at + PIECE)),
      client.create(1),
    ])
    at = Number(patch.headers['upload-offset'] ?? head.headers['upload-offset'] ?? at)
    answers.push({ method: 'HEAD', status: head.status })
    answers.push({ method: 'PATCH', status: patch.status }, { method: 'POST', status: post.status })
  }
  return answers
}

async function goOn(url: string, whole: Buffer): Promise<string> {
  const { status, headers } = await client.head(url)
  if (status !== 200) return `HEAD ${status}`
  const at = Number(headers['upload-offset'])
  if (at === whole.length) return 'done'
  const patched = await client.patch(url, at, whole.subarray(at))
  return patched.status === 204 ? 'done' : `PATCH ${patched.status}`
}

const WARN = 40

/** Returns the log lines after this position that an operator should read. */
function loud(from: number): { msg: string }[] {
  const lines = sluice.output().slice(from).split('\n').filter(Boolean)
  return lines.map((text) => JSON.parse(text)).filter(({ level }) => level >= WARN)
}
