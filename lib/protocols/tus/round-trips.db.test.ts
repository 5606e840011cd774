import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestDatabase } from '../../../test/support/databases.ts'
import { openDecider } from '../../../test/support/decider.ts'
import { httpCall } from '../../../test/support/http-call.ts'
import { openCountingProxy } from '../../../test/support/http-proxies.ts'
import type { TusClient } from '../../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../../test/support/upload-site.ts'
import { HOOKS } from '../../hooks/hook.ts'
import { deleteHook, saveHook } from '../../hooks/pipe-hooks.ts'
import { type DatabaseHandle, rows } from '../../platform/db/database.ts'
import { openPostgres } from '../../platform/db/open-postgres.ts'
import { parseInput } from '../../platform/kernel/parse-input.ts'
import { issueToken } from '../../workspace/tokens/issue-token.ts'
import { tokenInput } from '../../workspace/tokens/token.ts'

/**
 * How often a small request queries the database, counted on the wire and documented in docs/operations.md. The
 * numbers may fall, but must not rise.
 */
const SMALL = Buffer.alloc(4096, 7)
let database: DatabaseHandle & { url: string }
let site: Site
let proxy: Awaited<ReturnType<typeof openCountingProxy>>
let counted: DatabaseHandle
let node: Awaited<ReturnType<typeof serveUploads>>
let client: TusClient

beforeAll(async () => {
  database = await openTestDatabase()
  site = await createSite(database)
  proxy = await openCountingProxy(database.url)
  counted = openPostgres({ address: proxy.url, maxConnections: 1 })
  const runtime = { ...site.runtime, database: counted, db: counted.db }
  site = { ...site, runtime }
  node = await serveUploads(runtime)
  client = await site.client(node)
})
afterAll(async () => {
  await node?.close()
  await counted?.close()
  proxy?.close()
  await site?.close()
  await database?.close()
})

async function created(bytes = SMALL.length): Promise<string> {
  return await client.begin(bytes)
}

const putFile = () =>
  httpCall({ method: 'PUT', url: `${client.collection}a`, token: client.token, body: SMALL })

/** The requests to count, and the preparation of each. */
const REQUESTS: [name: string, roundTrips: number, prepare: () => Promise<() => Promise<unknown>>][] = [
  ['POST with an entire file', 3, async () => () => client.create(SMALL.length, {}, SMALL)],
  ['PUT of a file', 3, async () => () => putFile()],
  ['POST', 2, async () => () => client.create(SMALL.length)],
  ['PATCH with an entire file', 2, () => created().then((url) => () => client.patch(url, 0, SMALL))],
  ['PATCH with a piece', 3, () => created(8192).then((url) => () => client.patch(url, 0, SMALL))],
  ['HEAD', 1, () => created().then((url) => () => client.head(url))],
  [
    'a token',
    1,
    async () => () =>
      issueToken(site.runtime, site.sender.token, parseInput(tokenInput, { pipeId: site.pipe.id })),
  ],
]

it.each(REQUESTS)('%s takes %i round trips, all with prepared statements', async (_, roundTrips, prepare) => {
  await (await prepare())()
  const run = await prepare()
  proxy.take()
  await run()
  await Promise.all(node.context.background)
  expect(proxy.take()).toEqual({ roundTrips, parses: 0 })
})

it.each(REQUESTS.filter(([name]) => name.includes('file')))(
  '%s takes %i round trips if the content is also verified',
  async (_, roundTrips, prepare) => {
    const verify = (verifies: boolean) =>
      database.db.execute(sql`update pipes set verify_content = ${verifies} where id = ${site.pipe.id}`)
    await verify(true)
    try {
      await (await prepare())()
      const run = await prepare()
      proxy.take()
      await run()
      await Promise.all(node.context.background)
      expect(proxy.take()).toEqual({ roundTrips, parses: 0 })
    } finally {
      await verify(false)
    }
    const [newest] = await rows(database.db, sql`select found_type from files order by id desc limit 1`)
    expect(newest).toEqual({ found_type: 'text/plain' })
  },
)

/** Counts the requests to the bucket and to the hook for a small file that is sent in one request. */
async function requestsOf(
  hooks: readonly (typeof HOOKS)[number][],
): Promise<{ bucket: number; hook: number }> {
  const decider = await openDecider()
  for (const hook of hooks)
    await saveHook(
      site.runtime,
      site.actor,
      { pipeId: site.pipe.id, hook },
      { url: decider.url, enabled: true, timeoutSeconds: 5, withoutAnswer: 'refuse' },
    )
  const toBucket = () => Object.values(site.bucket.traffic.counts()).reduce((sum, count) => sum + count, 0)
  const before = toBucket()
  const { status, headers } = await client.create(SMALL.length, {}, SMALL)
  await Promise.all(node.context.background)
  // The client does not need another request.
  expect([status, headers['upload-offset']]).toEqual([201, String(SMALL.length)])
  expect(await site.statusOf(headers.location!)).toBe('transferred')
  for (const hook of hooks) await deleteHook(site.runtime, site.actor, { pipeId: site.pipe.id, hook })
  await decider.close()
  return { bucket: toBucket() - before, hook: decider.asked.length }
}

it('a small file takes one more request for each hook that answers immediately, and none without hooks', async () => {
  expect(await requestsOf([])).toEqual({ bucket: 1, hook: 0 })
  for (const hook of HOOKS) expect(await requestsOf([hook])).toEqual({ bucket: 1, hook: 1 })
  // Without hooks, there are no additional statements.
  const run = () => client.create(SMALL.length, {}, SMALL)
  await run()
  proxy.take()
  await run()
  await Promise.all(node.context.background)
  expect(proxy.take()).toEqual({ roundTrips: 3, parses: 0 })
})
