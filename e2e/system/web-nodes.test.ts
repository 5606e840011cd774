import { readFileSync } from 'node:fs'
import { eq } from 'drizzle-orm'
import { encode } from 'next-auth/jwt'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { members } from '#drizzle/schema/index.ts'
import { OPERATIONS } from '#lib/api/operations.ts'
import { createAccountKey } from '#lib/identity/accounts/account-keys.ts'
import { insertUser } from '#lib/identity/accounts/users.ts'
import { createSession } from '#lib/identity/sessions/sessions.ts'
import { ROUTES, routeFor } from '#lib/platform/http/routes.ts'
import { systemClock } from '#lib/platform/kernel/clock.ts'
import { errorCodes } from '#lib/platform/kernel/errors.ts'
import {
  byId,
  type Furnished,
  furnish,
  RECIPES,
  type Recipe,
  request,
} from '../../test/support/api-recipes.ts'
import { openTestDatabase } from '../../test/support/databases.ts'
import { ask } from '../../test/support/raw-http.ts'
import { type TestRuntime, testRuntime } from '../../test/support/runtime.ts'
import { type Sluice, startSluice } from '../../test/support/sluice.ts'

/** What web nodes respond, over HTTP, to their API's users, to strangers, and to a member who was removed. */
const AUTH_SECRET = 'a secret of thirty-two characters'
let database: Awaited<ReturnType<typeof openTestDatabase>>
let runtime: TestRuntime
let node: Sluice
let mine: Furnished

const start = () =>
  startSluice({
    ROLES: 'web',
    HOST: '127.0.0.1',
    BASE_URL: 'http://127.0.0.1:0',
    DATABASE_URL: database.url,
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    AUTH_SECRET,
    ALLOWED_PRIVATE_HOSTS: '*',
    LOG_LEVEL: 'warn',
  })

beforeAll(async () => {
  database = await openTestDatabase()
  runtime = { ...testRuntime(database), clock: { ...systemClock, advance() {} } }
  mine = await furnish(runtime)
  node = await start()
})
afterAll(async () => {
  await node?.stop()
  await database?.close()
})

async function call(id: string, recipe: Recipe, suffix = ''): Promise<Response> {
  const made = request(byId(id), recipe, recipe.key ?? mine.accountKey.key)
  const { pathname, search } = new URL(made.url)
  return fetch(node.baseUrl + pathname + (search || suffix), made)
}
/** Responses from Next.js route handlers can be recognized by their `Vary` header. */
const isOfNext = (response: Response) => response.headers.get('vary')?.includes('next-router') ?? false

/** A workspace member, with a session and a key, on this node. */
async function developer(at: string) {
  const account = { email: 'dev@example.com', passwordHash: null, emailVerified: true }
  const userId = await insertUser(runtime, account)
  const { workspaceId } = mine
  await runtime.db.insert(members).values({ workspaceId, userId, role: 'developer' })
  const actor = { workspaceId, kind: 'user', id: userId, label: account.email, role: 'developer' } as const
  const { key } = await createAccountKey(runtime, actor, { name: 'Of a developer' })
  const { id: sid } = await createSession(runtime, userId, { userAgent: null, address: null })
  const Cookie = `next-auth.session-token=${await encode({ token: { sid }, secret: AUTH_SECRET })}`
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

it('a removed member loses access to pages, streams and the API on another node from the next request on', {
  tags: 'long',
}, async () => {
  const other = await start()
  const { userId, page, live, api } = await developer(other.baseUrl)
  expect((await page('/dashboard/files')).status, other.output()).toBe(200)
  expect((await api('/pipes')).status).toBe(200)
  const [ofPage, ofKey] = [await live(), await api('/events/stream')]
  expect([ofPage.status, ofKey.status]).toEqual([200, 200])
  const streams = Promise.all([ended(ofPage), ended(ofKey)])

  const removed = await fetch(`${node.baseUrl}/api/v1/members/${userId}`, {
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
  await other.stop()
})

it('issues a token with the same response through the route handler and the direct path', async () => {
  const recipe = RECIPES.issueToken!(mine)
  const [routed, direct] = [await call('issueToken', recipe, '?'), await call('issueToken', recipe)]
  expect([isOfNext(routed), isOfNext(direct)]).toEqual([true, false])
  for (const response of [routed, direct]) {
    expect([response.status, response.headers.get('cache-control')]).toEqual([201, 'no-store'])
    expect(await response.json()).toMatchObject({
      token: expect.stringMatching(/^tmp_/),
      pipeId: mine.pipe.id,
    })
  }
  const refusals = await Promise.all(
    ['?', ''].map((suffix) => call('issueToken', { body: {}, key: mine.sender.token }, suffix)),
  )
  const [first, second] = await Promise.all(
    refusals.map(async (refused) => [refused.status, await refused.json()]),
  )
  expect(first![0]).toBe(400)
  expect(second).toEqual(first)
})

it('serves every other operation through a route handler', async () => {
  for (const [id, recipeOf] of Object.entries(RECIPES)) {
    const response = await call(id, recipeOf(mine), '?')
    expect([id, response.status, isOfNext(response)]).toEqual([id, byId(id).status, true])
  }
})

it.each([
  ['TRACE', '/api/v1/tokens', 405, 'method_not_allowed'],
  ['PROPFIND', '/api/v1/pipes', 405, 'method_not_allowed'],
  ['OPTIONS', '/api/v1/pipes', 405, 'method_not_allowed'],
  ['GET', '/api/v1', 404, 'not_found'],
  ['GET', '/api/v1/nothing', 404, 'not_found'],
  ['GET', '/api/v1/files/%ff', 400, 'invalid_request'],
])('rejects %s %s with a problem: %i %s', async (method, path, status, code) => {
  const answer = await ask(method, new URL(path, node.baseUrl))
  expect(answer.headers['content-type']).toBe('application/problem+json')
  const problem = JSON.parse(answer.body)
  expect([answer.status, problem.code]).toEqual([status, code])
  expect(problem.type).toBe(`${node.baseUrl}/docs/problems/${code}`)
})

it('gives each problem a type that is the address of a page that explains it', { tags: 'long' }, async () => {
  for (const [code, [, title]] of Object.entries(errorCodes)) {
    const page = await fetch(`${node.baseUrl}/docs/problems/${code}`)
    expect([code, page.status]).toEqual([code, 200])
    expect(await page.text()).toContain(
      `<h1 class="font-semibold text-3xl tracking-[-0.025em]">${title}</h1>`,
    )
  }
  expect((await fetch(`${node.baseUrl}/docs/problems/constructor`)).status).toBe(404)
})

/** The CPU time that the server has used; Linux counts it in steps of 10 ms. */
function cpuMs(): number {
  const fields = readFileSync(`/proc/${node.pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

const OPERATION_PATHS = OPERATIONS.map(({ method, path }) => [
  method,
  `/api/v1${path.replaceAll(/\{\w+\}/g, 'x')}`,
])
const ROUTE_PATHS = ROUTES.flatMap(({ path }) =>
  ['GET', 'POST'].map((method) => [method, path.replaceAll('*', 'x')]),
)
const OTHERS = ['csrf', 'session', 'signout', '_log'].map((action) => ['POST', `/api/auth/${action}`])

/** Bodies that are expensive to parse, to validate or to explain, as long as they may be. */
function* bodies(bytes: number): Iterable<string> {
  yield `{"files":[${'1,'.repeat(bytes).slice(0, bytes - 14)}1]}`
  const names = Array.from({ length: bytes / 10 }, (_, at) => `"${at.toString(36)}":1`)
  yield `{${names
    .join()
    .slice(0, bytes - 12)
    .replace(/,[^,]*$/, '')}}`
  yield '['.repeat(bytes)
}

describe('somebody without credentials causes little work', { tags: 'long' }, () => {
  it.each([...OPERATION_PATHS, ...ROUTE_PATHS, ...OTHERS] as [string, string][])(
    '%s %s',
    async (method, path) => {
      const ask = async (body?: string) => {
        const headers = { Authorization: 'Bearer x', ...(body && { 'Content-Type': 'application/json' }) }
        const before = cpuMs()
        const response = await fetch(node.baseUrl + path, {
          method,
          headers,
          redirect: 'manual',
          ...(body && { body }),
        })
        const answer = await response.arrayBuffer()
        return { status: response.status, bytes: answer.byteLength, ms: cpuMs() - before }
      }
      // A garbage collection or a sweep may count as well, but not each time.
      const askAtMost = async (maxMs: number, body?: string) => {
        let answer = await ask(body)
        for (let more = 2; more > 0 && answer.ms >= maxMs; more--) answer = await ask(body)
        expect(answer.ms).toBeLessThan(maxMs)
        return answer
      }
      // The first request loads the route's modules, and renders what is the same for everyone.
      await ask()
      await askAtMost(100)
      if (method === 'GET') return
      const { bodyBytes, isFixed } = routeFor(path)
      for (const body of bodies(bodyBytes)) {
        const refused = await askAtMost(150, body)
        expect(refused.status).toBeLessThan(500)
        expect(refused.bytes).toBeLessThan((path.startsWith('/api/') ? 32 : 128) * 1024)
      }
      // What is rendered once is only served to GET, whatever the body.
      const refusals = isFixed ? [405, 413] : [413]
      expect(refusals).toContain((await ask(' '.repeat(bodyBytes + 1))).status)
    },
  )
})
