/** @module-tag long */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { DatabaseHandle } from '#lib/platform/db/database.ts'
import { openTestDatabase } from '../../test/support/databases.ts'
import { freePort } from '../../test/support/postgres.ts'
import {
  BALANCERS,
  findBalancer,
  type ShippedBalancer,
  startShippedBalancer,
} from '../../test/support/shipped-balancer.ts'
import { type Sluice, startSluice } from '../../test/support/sluice.ts'
import { createSite, type Site } from '../../test/support/upload-site.ts'

/**
 * Tests the two web nodes of each shipped configuration, as visitors see them while one after the other is replaced.
 */
const missing = BALANCERS.filter((kind) => !findBalancer(kind))
if (missing.length > 0) console.warn(`skipped, not installed: ${missing.join(', ')}`)
const CLIENTS_OF_EACH = 3

let database: DatabaseHandle & { url: string }
let site: Site
let balancers: ShippedBalancer[]
let ports: [number, number]
let nodes: Sluice[]
beforeAll(async () => {
  if (missing.length > 0) return
  database = await openTestDatabase()
  site = await createSite(database)
  ports = [await freePort(), await freePort()]
  const all = { upload: ports, web: ports }
  balancers = await Promise.all(BALANCERS.map((kind) => startShippedBalancer(kind, all)))
  nodes = await Promise.all(ports.map(start))
  // HAProxy has to detect that the nodes are up.
  for (const { url } of balancers) while ((await fetch(`${url}/login`)).status !== 200);
})
afterAll(async () => {
  await Promise.all(
    [...(nodes ?? []), ...(balancers ?? [])].map((one) => ('stop' in one ? one.stop() : one.close())),
  )
  await site?.close()
  await database?.close()
})

const start = (port: number) =>
  startSluice({
    ROLES: 'web',
    HOST: '127.0.0.1',
    PORT: String(port),
    // Requests are sent to the addresses of both balancers.
    BASE_URL: balancers[0]!.url,
    UPLOAD_URL: balancers[1]!.url,
    DATABASE_URL: database.url,
    DATA_DIR: '/nowhere/is-needed',
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    AUTH_SECRET: 'a secret of thirty-two characters',
    TRUSTED_PROXIES: '127.0.0.1',
    ALLOWED_PRIVATE_HOSTS: '*',
    LOG_LEVEL: 'warn',
  })

/** Keeps requesting a page, and a token as a customer's backend would, until stopped. */
async function visit(url: string, seen: Map<string, number>, isOver: () => boolean): Promise<void> {
  const headers = { Authorization: `Bearer ${site.sender.token}`, 'Content-Type': 'application/json' }
  const body = JSON.stringify({ pipeId: site.pipe.id })
  while (!isOver()) {
    for (const asked of [
      () => fetch(`${url}/login`),
      () => fetch(`${url}/api/v1/tokens`, { method: 'POST', headers, body }),
    ]) {
      const answer = await asked().then(
        async (response) => {
          await response.arrayBuffer()
          return String(response.status)
        },
        (error: Error) => String(error.cause ?? error),
      )
      seen.set(answer, (seen.get(answer) ?? 0) + 1)
    }
  }
}

it.skipIf(missing.length > 0)('replacing both web nodes, one at a time, fails no request', async () => {
  let isOver = false
  const seen = balancers.map(() => new Map<string, number>())
  const visits = balancers.flatMap(({ url }, at) =>
    Array.from({ length: CLIENTS_OF_EACH }, () => visit(url, seen[at]!, () => isOver)),
  )
  for (const [at, port] of ports.entries()) {
    expect(await nodes[at]!.stop()).toBe(0)
    nodes[at] = await start(port)
    // As in a rollout, the next node is replaced once this one serves again.
    const before = balancers.map(({ log }) => log().length)
    const serves = ({ kind, log }: ShippedBalancer, n: number) =>
      log()
        .slice(before[n])
        .includes(`"upstream":"${kind === 'nginx' ? `127.0.0.1:${port}` : `web/web-${at + 1}`}"`)
    await expect.poll(() => balancers.every(serves)).toBe(true)
  }
  isOver = true
  await Promise.all(visits)
  for (const answers of seen) expect([...answers.keys()].sort()).toEqual(['200', '201'])
})
