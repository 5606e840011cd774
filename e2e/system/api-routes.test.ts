import { afterAll, beforeAll, expect, it } from 'vitest'
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
import { testRuntime } from '../../test/support/runtime.ts'
import { type Sluice, startSluice } from '../../test/support/sluice.ts'

/** Calls every operation over HTTP. Responses from Next.js route handlers can be recognized by their `Vary` header. */
let database: Awaited<ReturnType<typeof openTestDatabase>>
let node: Sluice
let mine: Furnished
beforeAll(async () => {
  database = await openTestDatabase()
  const { config, ...runtime } = testRuntime(database)
  mine = await furnish({ ...runtime, config, clock: { ...systemClock, advance() {} } })
  node = await startSluice({
    ROLES: 'web',
    HOST: '127.0.0.1',
    BASE_URL: 'http://127.0.0.1:0',
    DATABASE_URL: database.url,
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    AUTH_SECRET: 'a secret of thirty-two characters',
    ALLOWED_PRIVATE_HOSTS: '*',
    LOG_LEVEL: 'warn',
  })
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
const isOfNext = (response: Response) => response.headers.get('vary')?.includes('next-router') ?? false

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

it('gives each problem a type that is the address of a page that explains it', async () => {
  for (const [code, [, title]] of Object.entries(errorCodes)) {
    const page = await fetch(`${node.baseUrl}/docs/problems/${code}`)
    expect([code, page.status]).toEqual([code, 200])
    expect(await page.text()).toContain(
      `<h1 class="font-semibold text-3xl tracking-[-0.025em]">${title}</h1>`,
    )
  }
  expect((await fetch(`${node.baseUrl}/docs/problems/constructor`)).status).toBe(404)
})
