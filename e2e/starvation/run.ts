import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { migrate } from '#lib/platform/db/migrate.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { startDrippingBucket } from '../../test/support/dripping-bucket.ts'
import { createDatabase, startPostgres } from '../../test/support/postgres.ts'
import { ask } from '../../test/support/raw-http.ts'
import { type Sluice, startSluice, temporaryFolder } from '../../test/support/sluice.ts'
import { starve } from '../../test/support/starving.ts'
import { tusClient } from '../../test/support/tus-client.ts'
import { createSite, type Site } from '../../test/support/upload-site.ts'

/**
 * `npm run starve`: what another tenant's 32 MiB take, alone and while one tenant holds 40 uploads to 12 Data Stores on a
 * server that drips its answers. It fails where they take over three times as long, or memory goes past its limit.
 */
const MiB = 1024 * 1024
const MEMORY_BYTES = 64 * MiB
const ROUNDS = 9
const MOST_TIMES = 3
const METRICS_TOKEN = 'metrics-token-of-tests'

const postgres = await startPostgres()
const { url: DATABASE_URL, drop } = await createDatabase(postgres.url)
const database = openPostgres({ address: DATABASE_URL })
await migrate(database.db)
using folder = temporaryFolder()
const node = await startSluice({
  ...{ DATABASE_URL, METRICS_TOKEN, DATA_DIR: folder.path, ROLES: 'upload', HOST: '127.0.0.1' },
  ...{ BASE_URL: 'http://localhost:0', AUTH_SECRET: 'a'.repeat(40), ALLOWED_PRIVATE_HOSTS: '*' },
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  UPLOAD_MEMORY_BYTES: String(MEMORY_BYTES),
})
const [attacker, other] = [await createSite(database), await createSite(database)]
const bucket = await startDrippingBucket()
const body = randomBytes(32 * MiB)

const alone = await timeUploads(node, other)
const attack = await starve(node.baseUrl, attacker, bucket, body)
await settled(node)
const attacked = await timeUploads(node, other)
const peak = await gauge(node, 'sluice_upload_memory_peak_bytes')
attack.stop()

const report = (name: string, ms: number[]) =>
  console.log(`${name}: median ${median(ms)} ms, ${Math.min(...ms)} to ${Math.max(...ms)} ms`)
report('alone', alone)
report('attacked', attacked)
const times = median(attacked) / median(alone)
console.log(`${times.toFixed(1)} times as long; the most memory at once was ${peak} of ${MEMORY_BYTES} bytes`)

await node.stop()
await Promise.all([bucket.close(), attacker.close(), other.close(), database.close()])
await drop()
await postgres.stop()
const passed = times <= MOST_TIMES && peak > 0 && peak <= MEMORY_BYTES
console.log(passed ? 'passed' : 'failed')
process.exitCode = passed ? 0 : 1

async function timeUploads({ baseUrl }: Sluice, site: Site): Promise<number[]> {
  const client = tusClient({ url: baseUrl, pipeId: site.pipe.id, token: await site.token() })
  const times: number[] = []
  // The first one warms up.
  for (let round = 0; round <= ROUNDS; round++) {
    const beganMs = performance.now()
    const url = (await client.create(body.length)).headers.location!
    const { status } = await client.patch(url, 0, body)
    const tookMs = Math.round(performance.now() - beganMs)
    const key = `${url.split('/').at(-1)!}/file`
    if (status !== 204 || !(await site.bucket.object(key)).equals(body)) throw new Error(`PATCH: ${status}`)
    await site.bucket.remove(key)
    if (round > 0) times.push(tookMs)
  }
  return times
}

/** Until the attack holds what it can get: nothing has moved between two looks. */
async function settled(sluice: Sluice): Promise<void> {
  for (let before = -1; ; ) {
    await sleep(500)
    const used = await gauge(sluice, 'sluice_upload_memory_bytes')
    if (used > 0 && used === before && bucket.dripping > 0) return
    before = used
  }
}

async function gauge({ baseUrl }: Sluice, name: string): Promise<number> {
  const headers = { Authorization: `Bearer ${METRICS_TOKEN}` }
  const { body: text } = await ask('GET', new URL('/metrics', baseUrl), headers)
  return Number(text.match(new RegExp(`^${name} (\\S+)$`, 'm'))?.[1])
}

function median(of: number[]): number {
  return of.toSorted((a, b) => a - b)[Math.floor(of.length / 2)]!
}
