import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrate } from '#lib/platform/db/migrate.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { readOptions } from '../../../scripts/read-options.ts'
import { createDatabase, freePort, startPostgres } from '../../../test/support/postgres.ts'
import { startSluice, temporaryFolder } from '../../../test/support/sluice.ts'
import { endWithThisProcess } from '../../../test/support/until-exit.ts'
import { createSite } from '../../../test/support/upload-site.ts'
import { ATTACKS, type Target } from './attacks.ts'
import { measure, openHonest, type Times } from './honest.ts'

/**
 * `npm run drill -- neighbours`: a customer goes about their business while another customer or a stranger takes as
 * much of everything as they can, within their limits and beyond. What the customer does may take at most three times
 * as long as at rest, and hardly ever more than a second; the process must stay below its memory limit; and five
 * seconds after the attacker has left, everything must be as before.
 */
const MAX_TIMES = 3
const MAX_MS = 1000
const MAX_RSS_MIB = 1024
const UPLOAD_MEMORY_BYTES = 64 * 1024 * 1024
const RECOVERY_MS = 5000
const METRICS_TOKEN = 'metrics-token-of-the-drill'
/** Without autovacuum, every statement gets slower as the attacks go on, and plans ignore the rows that they added. */
const AS_IN_PRODUCTION = { max_connections: 300, shared_buffers: '128MB', autovacuum_naptime: 10 }

async function openStage() {
  const postgres = await startPostgres(AS_IN_PRODUCTION)
  const { url: databaseUrl, drop } = await createDatabase(postgres.url)
  const database = openPostgres({ address: databaseUrl, maxConnections: 4 })
  await migrate(database.db)
  const folder = temporaryFolder()
  const sftpPort = await freePort()
  const node = await startSluice({
    HOST: '127.0.0.1',
    BASE_URL: 'http://127.0.0.1:0',
    DATABASE_URL: databaseUrl,
    DATA_DIR: folder.path,
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    AUTH_SECRET: 'a secret of thirty-two characters',
    ALLOWED_PRIVATE_HOSTS: '*',
    TRUSTED_PROXIES: '127.0.0.1',
    FREE_TIER_BYTES: '0',
    LOG_LEVEL: 'error',
    METRICS_TOKEN,
    UPLOAD_MEMORY_BYTES: String(UPLOAD_MEMORY_BYTES),
    SFTP_PORT: String(sftpPort),
  })
  const site = await createSite(database, {
    bucket: { keepBytes: false },
    pipe: { source: { http: true, url: true, sftp: true } },
  })
  const at = { databaseUrl, baseUrl: node.baseUrl, metricsToken: METRICS_TOKEN, sftpPort }
  const target: Target = { ...at, pipeId: site.pipe.id }
  return {
    node,
    target,
    actions: await openHonest(node.baseUrl, site),
    async close() {
      await node.kill()
      await Promise.all([site.close(), database.close()])
      await drop()
      await postgres.stop()
      folder[Symbol.dispose]()
    },
  }
}

/** Returns a function that makes the attacker leave. */
async function attack(name: string, target: Target): Promise<() => Promise<void>> {
  const child = fork(join(import.meta.dirname, 'attacks.ts'), [JSON.stringify([name, target])])
  endWithThisProcess(child)
  const gone = once(child, 'exit')
  await Promise.race([once(child, 'message'), gone.then(() => Promise.reject(new Error(`${name}: failed`)))])
  return async () => {
    child.kill('SIGKILL')
    await gone
  }
}

const quantile = (times: number[], q: number) =>
  times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * q))] ?? Infinity

/** The most memory that the process has had so far. */
function peakRssMiB(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
}

/**
 * Prints a line for each action, and returns what took too long. On a machine too busy to meet the limit even at rest,
 * the slowest may take as many times longer as the median.
 */
function judge(phase: string, times: Times, rest: Times): string[] {
  return Object.entries(times).flatMap(([action, took]) => {
    const [median, late] = [quantile(took, 0.5), quantile(took, 0.99)]
    const ratio = median / quantile(rest[action]!, 0.5)
    const isFine = ratio < MAX_TIMES && late < Math.max(MAX_MS, MAX_TIMES * quantile(rest[action]!, 0.99))
    console.log(
      `${isFine ? 'ok  ' : 'FAIL'}  ${phase}: ${action} ${median.toFixed(0)} ms (${ratio.toFixed(1)} times), 99% ${late.toFixed(0)} ms, of ${took.length}`,
    )
    return isFine ? [] : [`${phase}: ${action}`]
  })
}

async function main(): Promise<boolean> {
  const { values } = readOptions('npm run drill -- neighbours [--seconds 15] [--attack <part of a name>]', {
    options: { seconds: { type: 'string', default: '15' }, attack: { type: 'string', default: '' } },
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
  const forMs = Number(values.seconds) * 1000
  const { node, target, actions, close } = await openStage()
  await measure(actions, RECOVERY_MS)
  const rest = await measure(actions, forMs)
  const faults = judge('at rest', rest, rest)
  for (const [name, { by }] of Object.entries(ATTACKS).filter(([one]) => one.includes(values.attack))) {
    const leave = await attack(name, target)
    const attacked = await measure(actions, forMs)
    await leave()
    faults.push(...judge(`${by}: ${name}`, attacked, rest))
    await measure(actions, RECOVERY_MS)
    faults.push(...judge('after it', await measure(actions, RECOVERY_MS), rest))
  }
  const rssMiB = peakRssMiB(node.pid)
  console.log(`the process had ${rssMiB.toFixed(0)} MiB at most`)
  if (rssMiB > MAX_RSS_MIB) faults.push('memory')
  await close()
  console.log(faults.length === 0 ? 'no neighbour noticed anything' : `FAIL  ${faults.join('; ')}`)
  return faults.length === 0
}

process.exit((await main()) ? 0 : 1)
