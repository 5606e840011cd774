import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { OPERATIONS } from '#lib/api/operations.ts'
import { ROUTES, routeFor } from '#lib/platform/http/routes.ts'
import { openTestDatabase } from '../../test/support/databases.ts'
import { type Sluice, startSluice } from '../../test/support/sluice.ts'

/** What someone without credentials can make a server do, on every route and in every operation. */
let database: Awaited<ReturnType<typeof openTestDatabase>>
let node: Sluice
beforeAll(async () => {
  database = await openTestDatabase()
  node = await startSluice({
    ROLES: 'web',
    HOST: '127.0.0.1',
    BASE_URL: 'http://127.0.0.1:0',
    DATABASE_URL: database.url,
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    AUTH_SECRET: 'a secret of thirty-two characters',
    LOG_LEVEL: 'silent',
  })
})
afterAll(async () => {
  await node?.stop()
  await database?.close()
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
    // The first request loads the route's modules, and renders what is the same for everyone.
    await ask()
    const again = await ask()
    expect(again.ms).toBeLessThan(100)
    if (method === 'GET') return
    const { bodyBytes } = routeFor(path)
    for (const body of bodies(bodyBytes)) {
      const refused = await ask(body)
      expect(refused.status).toBeLessThan(500)
      expect(refused.ms).toBeLessThan(150)
      expect(refused.bytes).toBeLessThan((path.startsWith('/api/') ? 32 : 128) * 1024)
    }
    expect((await ask(' '.repeat(bodyBytes + 1))).status).toBe(413)
  },
)
