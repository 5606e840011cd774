import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import type { DatabaseHandle } from '#lib/platform/db/database.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { createPipe } from '#lib/workspace/pipes/create-pipe.ts'
import { pipeInput } from '#lib/workspace/pipes/pipe.ts'
import { openTestDatabase } from './databases.ts'
import { type TusClient, tusClient } from './tus-client.ts'
import { createSite, type Site, type SiteOptions, serveUploads } from './upload-site.ts'

type Values = {
  database: DatabaseHandle
  site: Site
  node: Awaited<ReturnType<typeof serveUploads>>
  client: TusClient
}

/**
 * A database, a customer, an upload node and a TUS client, shared by the tests in one file or `describe`. Its values
 * are only available once the tests run.
 */
export function tusSite(options?: SiteOptions) {
  const at = {} as Values
  beforeAll(async () => {
    at.database = await openTestDatabase()
    at.site = await createSite(at.database, options)
    at.node = await serveUploads(at.site.runtime)
  })
  // Some of the tests move the clock past the token's lifetime.
  const renew = async () => {
    at.client = await at.site.client(at.node)
  }
  beforeEach(renew)
  afterAll(async () => {
    await at.node?.close()
    await at.site?.close()
    await at.database?.close()
  })

  const bytes = randomBytes(1000)
  /** Creates an upload, of `bytes` unless the test specifies another length, and returns its address. */
  const begin = (length: number | null = bytes.length) => at.client.begin(length)
  /** A client of another Pipe. */
  const otherPipe = async (fields: Record<string, unknown>) => {
    const { site, node } = at
    const input = { name: 'Other', dataStoreId: site.dataStore.id, source: { http: true }, ...fields }
    const pipe = await createPipe(site.runtime, site.actor, parseInput(pipeInput, input))
    return tusClient({ url: node.url, pipeId: pipe.id, token: await site.token({ pipeId: pipe.id }) })
  }
  return { at, renew, bytes, begin, otherPipe }
}
