import { eq } from 'drizzle-orm'
import { encode } from 'next-auth/jwt'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { members } from '#drizzle/schema/index.ts'
import { createAccountKey } from '#lib/identity/accounts/account-keys.ts'
import { insertUser } from '#lib/identity/accounts/users.ts'
import { createSession } from '#lib/identity/sessions/sessions.ts'
import { systemClock } from '#lib/platform/kernel/clock.ts'
import { openTestDatabase } from '../../test/support/databases.ts'
import { testRuntime } from '../../test/support/runtime.ts'
import { type Sluice, startSluice } from '../../test/support/sluice.ts'
import { createTestWorkspace, type TestWorkspace } from '../../test/support/workspace.ts'

/** Two nodes share a database: a change made on one takes effect on the other. */
const AUTH_SECRET = 'a secret of thirty-two characters'
let database: Awaited<ReturnType<typeof openTestDatabase>>
let nodes: [Sluice, Sluice]
let mine: TestWorkspace
let runtime: ReturnType<typeof testRuntime>
beforeAll(async () => {
  database = await openTestDatabase()
  const { config, ...rest } = testRuntime(database)
  runtime = { ...rest, config, clock: { ...systemClock, advance() {} } }
  mine = await createTestWorkspace(runtime)
  const env = {
    ROLES: 'web',
    HOST: '127.0.0.1',
    BASE_URL: 'http://127.0.0.1:0',
    DATABASE_URL: database.url,
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    AUTH_SECRET,
    LOG_LEVEL: 'warn',
  }
  nodes = await Promise.all([startSluice(env), startSluice(env)])
})
afterAll(async () => {
  await Promise.all((nodes ?? []).map((node) => node.stop()))
  await database?.close()
})

/** A workspace member, with a session and a key, on the second node. */
async function developer() {
  const account = { email: 'dev@example.com', passwordHash: null, emailVerified: true }
  const userId = await insertUser(runtime, account)
  const { workspaceId } = mine
  await runtime.db.insert(members).values({ workspaceId, userId, role: 'developer' })
  const actor = { workspaceId, kind: 'user', id: userId, label: account.email, role: 'developer' } as const
  const { key } = await createAccountKey(runtime, actor, { name: 'Of a developer' })
  const { id: sid } = await createSession(runtime, userId, { userAgent: null, address: null })
  const Cookie = `next-auth.session-token=${await encode({ token: { sid }, secret: AUTH_SECRET })}`
  const at = nodes[1].baseUrl
  return {
    userId,
    page: (path: string) => fetch(at + path, { headers: { Cookie }, redirect: 'manual' }),
    live: () => fetch(`${at}/api/live?topic=files`, { headers: { Cookie } }),
    api: (path: string) => fetch(`${at}/api/v1${path}`, { headers: { Authorization: `Bearer ${key}` } }),
  }
}

/** Reads the response until the server ends it. */
async function ended(response: Response): Promise<true> {
  for await (const _ of response.body!);
  return true
}

it('a removed member loses access to pages, streams and the API on another node from the next request on', async () => {
  const { userId, page, live, api } = await developer()
  expect((await page('/dashboard/files')).status, nodes[1].output()).toBe(200)
  expect((await api('/pipes')).status).toBe(200)
  const [ofPage, ofKey] = [await live(), await api('/events/stream')]
  expect([ofPage.status, ofKey.status]).toEqual([200, 200])
  const streams = Promise.all([ended(ofPage), ended(ofKey)])

  const removed = await fetch(`${nodes[0].baseUrl}/api/v1/members/${userId}`, {
    method: 'DELETE',
    headers: { Authorization: `Bearer ${mine.accountKey.key}` },
  })
  expect(removed.status, await removed.text()).toBe(204)

  const shown = await page('/dashboard/files')
  expect([shown.status, shown.headers.get('location')]).toEqual([307, '/workspaces'])
  expect((await live()).status).toBe(401)
  const refused = await api('/pipes')
  expect(refused.status).toBe(401)
  expect(await refused.json()).toMatchObject({ code: 'account_key_invalid' })
  expect(await streams).toEqual([true, true])
  const left = await runtime.db.select().from(members).where(eq(members.userId, userId))
  expect(left).toEqual([])
})
