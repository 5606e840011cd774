/** @module-tag long */
import { Agent, request } from 'node:http'
import { expect, inject, it } from 'vitest'
import { migrate } from '#lib/platform/db/migrate.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { createDatabase } from '../../test/support/postgres.ts'
import { startSluice, temporaryFolder } from '../../test/support/sluice.ts'
import { createSite } from '../../test/support/upload-site.ts'

/** Set `CREATIONS=12000` for a longer run. */
const CREATIONS = Number(process.env.CREATIONS ?? 1200)
const STRETCH = CREATIONS / 4
const AT_ONCE = 16
const MiB = 1024 * 1024

it('abandoned uploads use no memory, and creating the last one takes no more work than the first', async () => {
  const created = await createDatabase(inject('postgresUrl'))
  const database = openPostgres({ address: created.url })
  await migrate(database.db)
  const site = await createSite({ ...database, kind: 'postgres' })
  using folder = temporaryFolder()
  const node = await startSluice({
    ROLES: 'upload',
    HOST: '127.0.0.1',
    BASE_URL: 'http://localhost:0',
    DATABASE_URL: created.url,
    DATA_DIR: folder.path,
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    AUTH_SECRET: 'a secret of thirty-two characters',
    METRICS_TOKEN: 'metrics-token-of-the-test',
    ALLOWED_PRIVATE_HOSTS: '*',
    FREE_TIER_BYTES: '0',
    LOG_LEVEL: 'warn',
  })
  const token = await site.token()
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
  const create = () =>
    new Promise<number>((resolve, reject) => {
      const headers = { 'Tus-Resumable': '1.0.0', Authorization: `Bearer ${token}`, 'Upload-Length': '1000' }
      const sent = request(`${node.baseUrl}/pipes/${site.pipe.id}/files/`, { method: 'POST', headers, agent })
      sent.once('error', reject)
      sent.once('response', (answer) => {
        answer.resume()
        answer.once('end', () => resolve(answer.statusCode!))
      })
      sent.end()
    })
  const measure = async () => {
    const headers = { Authorization: 'Bearer metrics-token-of-the-test' }
    const text = await (await fetch(`${node.baseUrl}/metrics`, { headers })).text()
    const value = (name: string) => Number(text.match(new RegExp(`^\\w*${name} (\\S+)$`, 'm'))![1])
    return {
      memoryBytes: value('process_resident_memory_bytes'),
      cpuSeconds: value('process_cpu_seconds_total'),
    }
  }

  const stretches: { memoryBytes: number; cpuSeconds: number }[] = []
  let before = await measure()
  for (let made = 0; made < CREATIONS; made += STRETCH) {
    let left = STRETCH
    const client = async () => {
      while (left-- > 0) expect(await create()).toBe(201)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, client))
    const after = await measure()
    stretches.push({ ...after, cpuSeconds: after.cpuSeconds - before.cpuSeconds })
    before = after
  }
  // V8 and the caches grow to their usual size during the first stretch.
  const [, second, , last] = stretches
  expect(last!.memoryBytes - second!.memoryBytes, JSON.stringify(stretches)).toBeLessThan(64 * MiB)
  expect(last!.cpuSeconds / second!.cpuSeconds, JSON.stringify(stretches)).toBeLessThan(2)
  agent.destroy()
  expect(await node.stop()).toBe(0)
  await site.close()
  await database.close()
  await created.drop()
}, 300_000)
