import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { openPostgres } from '../../lib/platform/db/open-postgres.ts'
import { createOutages } from '../../lib/platform/db/outages.ts'
import { createLogger } from '../../lib/platform/log/log.ts'
import { openTestDatabase } from '../../test/support/databases.ts'
import { testRuntime } from '../../test/support/runtime.ts'
import { openPausingProxy } from '../../test/support/tcp-proxies.ts'
import { frontDoor, openDoor } from './front-door.ts'
import { proxyTrust } from './trusted-proxies.ts'

it('is not ready before pages work again after an outage', async () => {
  const database = await openTestDatabase()
  const line = await openPausingProxy(database.url)
  // The outage then lasts for the rest of this test, although the database is back.
  const watch = createOutages({ suspectAfterMs: 900, answerWithinMs: 900, askEveryMs: 600_000 })
  const begun = Promise.withResolvers<string>()
  const log = createLogger('error', { write: begun.resolve })
  const handle = openPostgres({ address: line.url, outages: { watch, log } })
  const runtime = testRuntime(handle, { BASE_URL: 'http://127.0.0.1' })
  const server = createServer(
    frontDoor(Promise.resolve(openDoor(runtime, {})), { log, trusts: proxyTrust([]) }),
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const readiness = async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status

  expect(await readiness()).toBe(200)
  line.setAway(true)
  expect(await readiness()).toBe(503)
  expect(await begun.promise).toContain('the database is not responding')
  line.setAway(false)
  const isBack = () =>
    handle.reach().then(
      () => true,
      () => false,
    )
  await expect.poll(isBack).toBe(true)
  expect(await readiness()).toBe(503)

  server.close()
  await handle.close()
  await line.close()
  await database.close()
})
