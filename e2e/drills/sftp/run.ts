import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { migrate } from '#lib/platform/db/migrate.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { readOptions } from '../../../scripts/read-options.ts'
import { createDatabase, freePort, startPostgres } from '../../../test/support/postgres.ts'
import { type Sluice, startSluice } from '../../../test/support/sluice.ts'
import { endWithThisProcess } from '../../../test/support/until-exit.ts'
import { createSite, type Site } from '../../../test/support/upload-site.ts'
import type { Attack, Outcome, Target } from './attacker.ts'
import { type Noticed, startHonest } from './honest.ts'
import { intrude } from './intruder.ts'

/**
 * `npm run drill -- sftp`: runs an hour's worth of attacks on the SFTP port in a short time: floods before sign-in,
 * guessed tokens, abuse of a valid token, and a thousand slow clients. At the same time, a browser uploads by TUS, a
 * client requests offsets, and a partner signs in repeatedly. The effect on them is printed for each attack.
 */
const METRICS_TOKEN = 'metrics-token-of-the-drill'

async function perform(target: Target, attack: Attack, forMs?: number): Promise<Outcome> {
  const child = fork(join(import.meta.dirname, 'attacker.ts'), [JSON.stringify([target, attack])])
  endWithThisProcess(child)
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`the attacker exited with ${code}`)
  })
  failed.catch(() => {})
  const hear = async () => ((await Promise.race([once(child, 'message'), failed])) as [Outcome | 'open'])[0]
  const said = await hear()
  if (said !== 'open') return said
  await sleep(forMs)
  child.send('stop')
  return (await hear()) as Outcome
}

const quantile = (times: number[], q: number) =>
  [...times].sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * q))] ?? 0

function tellNoticed({ heads, pieces, partner }: Noticed): string {
  const ms = (times: number[]) =>
    `${quantile(times, 0.5).toFixed(0)} / ${quantile(times, 0.99).toFixed(0)} / ${Math.max(0, ...times).toFixed(0)} ms`
  return `HEAD ${ms(heads)} of ${heads.length}, PATCH of 1 MiB ${ms(pieces)} of ${pieces.length} (median / 99% / maximum); the partner signed in ${partner.well} of ${partner.well + partner.failed.length} times ${[...new Set(partner.failed)].join('; ')}`
}

const rssMiB = (pid: number) =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024

async function metricsOf({ baseUrl }: Sluice): Promise<string> {
  const headers = { Authorization: `Bearer ${METRICS_TOKEN}` }
  return (await fetch(`${baseUrl}/metrics`, { headers })).text()
}

/** Returns the node's maximum event loop delay since the last call, and its total CPU time. */
async function strainOn(node: Sluice): Promise<{ lateMs: number; cpuSeconds: number }> {
  const text = await metricsOf(node)
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)![1])
  return {
    lateMs: value('nodejs_eventloop_lag_max_seconds') * 1000,
    cpuSeconds: value('process_cpu_seconds_total'),
  }
}

async function refusals(node: Sluice): Promise<string> {
  const found = [
    ...(await metricsOf(node)).matchAll(/^sluice_sftp_refusals_total\{reason="(\w+)"\} (\d+)$/gm),
  ]
  return found.map(([, reason, count]) => `${reason} ${count}`).join(', ')
}

async function openStage() {
  const postgres = await startPostgres()
  const { url, drop } = await createDatabase(postgres.url)
  const database = openPostgres({ address: url, maxConnections: 4 })
  await migrate(database.db)
  const site = await createSite(database, { pipe: { source: { http: true, sftp: true } } })
  const sftpPort = await freePort()
  const node = await startSluice({
    ROLES: 'upload',
    HOST: '127.0.0.1',
    BASE_URL: 'http://127.0.0.1:0',
    DATABASE_URL: url,
    DATA_DIR: '/nowhere/is-needed',
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    AUTH_SECRET: 'a secret of thirty-two characters',
    ALLOWED_PRIVATE_HOSTS: '*',
    LOG_LEVEL: 'warn',
    METRICS_TOKEN,
    SFTP_PORT: String(sftpPort),
  })
  return {
    site,
    node,
    target: { port: sftpPort, pipe: { id: site.pipe.id } },
    async close() {
      await node.kill()
      await site.close()
      await database.close()
      await drop()
      await postgres.stop()
    },
  }
}

type Options = { connections: number; slow: number; seconds: number }
type Stage = Awaited<ReturnType<typeof openStage>>
type Phase = { name: string; attack: () => Promise<Outcome> }

function phasesOf(stage: Stage, token: string, { connections, slow, seconds }: Options): Phase[] {
  const by = (attack: Attack, forMs?: number) => () => perform(stage.target, attack, forMs)
  const flood = { kind: 'flood', connections, atOnce: 500, holdMs: 2000 } as const
  const guess = { kind: 'guess', attempts: 300, atOnce: 20 } as const
  const crowd = {
    kind: 'crowd',
    clients: slow,
    bytesPerSecond: 3000,
    networks: 250,
    password: token,
  } as const
  const name = (what: string) => `${connections} connections ${what}`
  return [
    { name: 'no attack', attack: async () => sleep(seconds * 1000, {}) },
    { name: name('from one network'), attack: by({ ...flood, networks: 1 }) },
    { name: name('from 1,000 networks'), attack: by({ ...flood, networks: 1000 }) },
    { name: '300 guesses from one network', attack: by({ ...guess, networks: 1 }) },
    { name: '300 guesses from 100 networks', attack: by({ ...guess, networks: 100 }) },
    { name: `${slow} slow clients at 3 kB/s`, attack: by(crowd, seconds * 1000) },
  ]
}

/**
 * Returns whether the attack had no effect. The partner has signed in before any attack, so no flood may lock them out.
 */
function judge(outcome: Outcome, noticed: Noticed, { slow }: Options): boolean {
  if (outcome['let in']) return false
  if ('open' in outcome) return outcome.open === slow && outcome['writes refused'] === 0
  return noticed.partner.failed.length === 0
}

async function drill({ site, node, target }: Stage, options: Options): Promise<boolean> {
  const token = await site.token({ subject: 'partner', expiresIn: 86_400 })
  const tus = await site.client({ url: node.baseUrl }, { expiresIn: 86_400 })
  const honest = await startHonest({ tus, sftp: target, token, pieces: 600 })
  let well = true
  const tell = (ok: boolean, text: string) => {
    well &&= ok
    console.log(`${ok ? 'ok  ' : 'FAIL'}  ${text}`)
  }
  for (const phase of phasesOf({ site, node, target } as Stage, token, options)) {
    honest.take()
    const before = await strainOn(node)
    const sinceMs = performance.now()
    const outcome = await phase.attack()
    const noticed = honest.take()
    const { lateMs, cpuSeconds } = await strainOn(node)
    const told = Object.entries(outcome).map(([what, count]) => `${count} ${what}`)
    const took = ((performance.now() - sinceMs) / 1000).toFixed(0)
    tell(judge(outcome, noticed, options), [phase.name, `${took} s`, ...told].join(', '))
    console.log(`      ${tellNoticed(noticed)}`)
    console.log(
      `      the node used ${(cpuSeconds - before.cpuSeconds).toFixed(1)} s of CPU, its event loop was at most ${lateMs.toFixed(0)} ms late, and it uses ${rssMiB(node.pid).toFixed(0)} MiB`,
    )
  }
  for (const { what, well: isWell, how } of await intrude(site, target)) tell(isWell, `${what}: ${how}`)
  await tellEnd({ site, node, honest, tell })
  return well
}

type Ending = {
  site: Site
  node: Sluice
  honest: Awaited<ReturnType<typeof startHonest>>
  tell(ok: boolean, text: string): void
}

async function tellEnd({ site, node, honest, tell }: Ending): Promise<void> {
  const { url, whole } = await honest.end()
  const key = (await site.bucket.objects()).find((one) => one.startsWith(url.split('/').at(-1)!))
  const isEqual = key !== undefined && (await site.bucket.object(key)).equals(whole)
  tell(
    isEqual,
    `the browser's file of ${whole.length / 1024 / 1024} MiB is ${isEqual ? 'equal' : 'different'}; ${honest.failures.length} of its requests failed and were resumed ${honest.failures.slice(0, 3).join('; ')}`,
  )
  const lines = node
    .output()
    .split('\n')
    .filter((line) => line.includes('sftp: '))
  console.log(`      refused: ${await refusals(node)}`)
  console.log(`      the log has ${lines.length} lines about SFTP`)
}

async function main(): Promise<boolean> {
  const usage = 'npm run drill -- sftp [--connections 10000] [--slow 1000] [--seconds 30]'
  const { values } = readOptions(usage, {
    options: {
      connections: { type: 'string', default: '10000' },
      slow: { type: 'string', default: '1000' },
      seconds: { type: 'string', default: '30' },
    },
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
  const [connections, slow, seconds] = [values.connections, values.slow, values.seconds].map(Number)
  const stage = await openStage()
  try {
    return await drill(stage, { connections: connections!, slow: slow!, seconds: seconds! })
  } finally {
    await stage.close()
  }
}

process.exit((await main()) ? 0 : 1)
