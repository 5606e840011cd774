import type { IncomingMessage } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { releaseMemory } from '../../../server/release-memory.ts'
import { openTestDatabase } from '../../../test/support/databases.ts'
import { createSite, type Site, serveUploads } from '../../../test/support/upload-site.ts'
import type { DatabaseHandle } from '../../platform/db/database.ts'

const FILES = 20

describe('a transferred file', () => {
  let database: DatabaseHandle
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  const requests: WeakRef<IncomingMessage>[] = []
  beforeAll(async () => {
    database = await openTestDatabase()
    site = await createSite(database)
    node = await serveUploads(site.runtime)
    node.server.on('request', (request: IncomingMessage) => requests.push(new WeakRef(request)))
  })
  afterAll(async () => {
    await site?.close()
    await database?.close()
  })

  it('does not keep its request in memory, even though it can be recorded again', async () => {
    const client = await site.client(node)
    for (let n = 0; n < FILES; n++) await client.create(5, {}, Buffer.from('hello'))
    await node.close()
    await turn()
    releaseMemory()
    expect(requests).toHaveLength(FILES)
    // The last turn of the event loop may have left a reference on the stack.
    expect(requests.filter((request) => request.deref()).length).toBeLessThan(FILES / 4)
  })
})
