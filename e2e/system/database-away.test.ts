/** @module-tag long */
import { execFileSync } from 'node:child_process'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freezablePostgres } from '../../test/support/postgres.ts'
import { sessionCookie } from '../../test/support/session.ts'
import { type Sluice, sourceFolder, startSluice, temporaryFolder } from '../../test/support/sluice.ts'

type Line = { level: number; msg: string; err?: { message: string; cause?: { message: string } } }
const WARN = 40

const folder = temporaryFolder()
let server: Awaited<ReturnType<typeof freezablePostgres>>
let sluice: Sluice
let Cookie: string

beforeAll(async () => {
  server = await freezablePostgres()
  const settings = {
    DATABASE_URL: server.url,
    DATA_DIR: folder.path,
    ROLES: 'web,worker',
    ACCESS_LOG: 'off',
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    AUTH_SECRET: 'a secret of thirty-two characters',
    BASE_URL: 'http://localhost:0',
  }
  sluice = await startSluice(settings)
  const email = 'somebody@example.com'
  const made = execFileSync(process.execPath, ['scripts/account.ts', '--email', email], {
    cwd: sourceFolder(),
    env: { ...process.env, ...settings },
    encoding: 'utf8',
  })
  const { password } = JSON.parse(made)
  Cookie = await sessionCookie({ baseUrl: sluice.baseUrl, email, password })
})
afterAll(async () => {
  server?.thaw()
  await sluice?.stop()
  await server?.stop()
  folder[Symbol.dispose]()
})

async function ask(path: string, init?: RequestInit): Promise<number> {
  const answer = await fetch(new URL(path, sluice.baseUrl), { redirect: 'manual', ...init })
  await answer.arrayBuffer()
  return answer.status
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' })
const askAll = () =>
  Promise.all([
    ask('/api/v1/pipes', { headers: bearer(`ak_${'A'.repeat(43)}`) }),
    ask('/api/v1/tokens', {
      method: 'POST',
      headers: bearer(`sk_${'A'.repeat(43)}`),
      body: JSON.stringify({ pipeId: `pipe_${'a'.repeat(20)}` }),
    }),
    ask('/dashboard/pipes', { headers: { Cookie } }),
  ])

/** Returns the log lines after this position that an operator should read. */
function loud(from: number): Line[] {
  const lines = sluice.output().slice(from).split('\n').filter(Boolean)
  return lines.map((line) => JSON.parse(line) as Line).filter(({ level }) => level >= WARN)
}

it('pages and the API respond while PostgreSQL is frozen, and the log reports the start and end of the outage', async () => {
  const before = await askAll()
  expect(before).toEqual([401, 401, 200])
  const from = sluice.output().length
  await server.freeze()
  for (let times = 0; times < 3; times++) {
    const [pipes, tokens] = await askAll()
    expect([pipes, tokens]).toEqual([503, 503])
  }
  server.thaw()
  await expect.poll(askAll).toEqual(before)
  expect(loud(from)).toMatchObject([
    { msg: 'the database is not responding', why: expect.any(String) },
    { msg: 'the database is responding again', awayMs: expect.any(Number) },
  ])
})

it('a failing page is logged as one line of JSON, without its parameters', async () => {
  const client = postgres(server.url, { max: 1, onnotice: () => {} })
  await client`alter table pipes rename to pipes_elsewhere`
  const from = sluice.output().length
  await ask('/dashboard/pipes', { headers: { Cookie } })
  // The server's own tasks may need the table, too, and fail.
  const failures = () => loud(from).filter(({ msg }) => msg === 'a page failed')
  await expect.poll(() => failures().length).toBeGreaterThan(0)
  await client`alter table pipes_elsewhere rename to pipes`
  await client.end()
  const text = sluice.output().slice(from)
  expect(failures()).toHaveLength(1)
  expect(text).toContain('pipes')
  expect(text).not.toMatch(/select |params: (?!\[left out\])/)
})
