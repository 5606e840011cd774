import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { migrate } from '#lib/platform/db/migrate.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { type DrippingBucket, startDrippingBucket } from '../../test/support/dripping-bucket.ts'
import { createDatabase, startPostgres } from '../../test/support/postgres.ts'
import { ask } from '../../test/support/raw-http.ts'
import { type Sluice, startSluice, temporaryFolder } from '../../test/support/sluice.ts'
import { starve } from '../../test/support/starving.ts'
import { fileIdOf, tusClient } from '../../test/support/tus-client.ts'
import { createSite, type Site } from '../../test/support/upload-site.ts'
import { createLog, type Log } from './log.ts'

/**
 * Measures how long an upload of 32 MiB takes one tenant, alone and while another tenant has 40 uploads open to 12 Data
 * Stores on a server that responds very slowly. It may take at most three times as long, and memory must not exceed its
 * limit by a byte. Each `npm run chaos` ends with this, and `npm run drill -- starve` runs it separately.
 */
const MiB = 1024 * 1024
const MEMORY_BYTES = 64 * MiB
const ROUNDS = 9
const MAX_TIMES = 3
const METRICS_TOKEN = 'metrics-token-of-tests'

export async function starveOthers(postgresUrl: string, log: Log): Promise<void> {
  const { url, drop } = await createDatabase(postgresUrl)
  const database = openPostgres({ address: url })
  await migrate(database.db)
  using folder = temporaryFolder()
  const node = await startNode(url, folder.path)
  const [attacker, other] = [await createSite(database), await createSite(database)]
  const bucket = await startDrippingBucket()
  const body = randomBytes(32 * MiB)
  const aloneMs = await timeUploads(node, other, body)
  const attack = await starve(node.baseUrl, attacker, bucket, body)
  await untilNothingMoves(node, bucket)
  const attackedMs = await timeUploads(node, other, body)
  const peakBytes = await gauge(node, 'sluice_upload_memory_peak_bytes')
  attack.stop()
  log.note(
    `32 MiB take ${attackedMs} ms while another tenant uses up memory, ${aloneMs} ms otherwise; memory at most ${peakBytes} bytes`,
  )
  if (attackedMs > MAX_TIMES * aloneMs) log.violation(`the upload took more than ${MAX_TIMES} times as long`)
  if (!(peakBytes > 0 && peakBytes <= MEMORY_BYTES))
    log.violation(`the memory limit is ${MEMORY_BYTES} bytes`)
  await node.stop()
  await Promise.all([bucket.close(), attacker.close(), other.close(), database.close()])
  await drop()
}

function startNode(databaseUrl: string, dataDir: string): Promise<Sluice> {
  return startSluice({
    DATABASE_URL: databaseUrl,
    METRICS_TOKEN,
    DATA_DIR: dataDir,
    ROLES: 'upload',
    HOST: '127.0.0.1',
    BASE_URL: 'http://localhost:0',
    AUTH_SECRET: 'a'.repeat(40),
    ALLOWED_PRIVATE_HOSTS: '*',
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    UPLOAD_MEMORY_BYTES: String(MEMORY_BYTES),
  })
}

/** Returns the median. */
async function timeUploads({ baseUrl }: Sluice, site: Site, body: Buffer): Promise<number> {
  const client = tusClient({ url: baseUrl, pipeId: site.pipe.id, token: await site.token() })
  const times: number[] = []
  // The first upload is a warm-up.
  for (let round = 0; round <= ROUNDS; round++) {
    const beganMs = performance.now()
    const url = await client.begin(body.length)
    const { status } = await client.patch(url, 0, body)
    const tookMs = Math.round(performance.now() - beganMs)
    const key = `${fileIdOf(url)}/file`
    if (status !== 204 || !(await site.bucket.object(key)).equals(body)) throw new Error(`PATCH: ${status}`)
    await site.bucket.remove(key)
    if (round > 0) times.push(tookMs)
  }
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!
}

/** Waits until the attack uses all the memory it can get, that is until nothing changes between two checks. */
async function untilNothingMoves(sluice: Sluice, bucket: DrippingBucket): Promise<void> {
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

if (import.meta.main) {
  const postgres = await startPostgres()
  const log = createLog((line) => console.log(line))
  await starveOthers(postgres.url, log)
  await postgres.stop()
  console.log(log.violations.length === 0 ? 'no violations' : `${log.violations.length} violations`)
  process.exitCode = log.violations.length === 0 ? 0 : 1
}
