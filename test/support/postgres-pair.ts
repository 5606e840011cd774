import { chmodSync, cpSync, lchownSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { makeCluster, USER } from '#lib/platform/db/embedded/make-cluster.ts'
import { findPrograms } from '#lib/platform/db/embedded/programs.ts'
import { HERE, runAs } from '#lib/platform/db/embedded/run-as.ts'
import { startPostmaster } from '#lib/platform/db/embedded/start-postmaster.ts'
import { createLogger } from '#lib/platform/log/log.ts'
import { openBreakableLine } from './breakable-line.ts'
import { freePort } from './postgres.ts'
import { removeWithThisProcess } from './until-exit.ts'

/** A primary and its standby, which can take over. The connection between them can be cut. */
export type PostgresPair = Awaited<ReturnType<typeof startPair>>

const HBA = 'host all all 127.0.0.1/32 trust\nhost replication all 127.0.0.1/32 trust\n'
const SETTINGS = {
  wal_level: 'replica',
  max_wal_senders: 10,
  max_worker_processes: 8,
  max_connections: 200,
  shared_buffers: '64MB',
  fsync: 'off',
  full_page_writes: 'off',
  // Keeps the WAL that the standby misses while the connection is cut.
  wal_keep_size: '512MB',
}

export async function startPair({ synchronous }: { synchronous: boolean }) {
  const around = mkdtempSync(join(tmpdir(), 'sluice-pair-'))
  const removeFolder = removeWithThisProcess(around)
  const folders = [join(around, 'first'), join(around, 'second')] as const
  const as = runAs(folders[0])
  const programs = findPrograms(around, as)
  await makeCluster({ programs, folder: folders[0], as, durable: false })
  writeFileSync(join(folders[0], 'pair.conf'), HBA, { mode: 0o644 })
  cpSync(folders[0], folders[1], { recursive: true })
  chmodSync(folders[1], 0o700)
  writeFileSync(join(folders[1], 'standby.signal'), '')
  if (as)
    for (const path of [
      folders[1],
      ...readdirSync(folders[1], { recursive: true, encoding: 'utf8' }).map((name) => join(folders[1], name)),
    ])
      lchownSync(path, as.uid, as.gid)
  const ports = [await freePort(), await freePort()] as const
  const line = await openBreakableLine({ toPort: ports[0] })
  const start = (at: 0 | 1, more: Record<string, string>) => {
    const folder = folders[at]
    const place = { host: '127.0.0.1', port: ports[at], user: USER, password: '', database: 'postgres' }
    const settings = { ...SETTINGS, hba_file: join(HERE ?? folder, 'pair.conf'), ...more }
    return startPostmaster({ programs, folder, place, as, log: createLogger('silent'), settings })
  }
  const first = await start(0, synchronous ? { synchronous_standby_names: '*' } : {})
  const second = await start(1, {
    primary_conninfo: `host=127.0.0.1 port=${line.port} user=${USER}`,
    wal_retrieve_retry_interval: '200ms',
  })
  const admin = (at: 0 | 1) =>
    postgres(`postgres://${USER}@127.0.0.1:${ports[at]}/postgres`, { max: 1, onnotice: () => {} })
  const ask = async (at: 0 | 1, statement: string) => {
    const client = admin(at)
    return client.unsafe(statement).finally(() => client.end())
  }
  while ((await ask(0, 'select from pg_stat_replication')).length === 0);
  return {
    /** An address with both servers, the primary first. */
    url: (database = 'postgres') =>
      `postgres://${USER}@127.0.0.1:${ports[0]},127.0.0.1:${ports[1]}/${database}?target_session_attrs=read-write`,
    async createDatabase(): Promise<string> {
      const name = `sluice_${Math.random().toString(36).slice(2, 10)}`
      await ask(0, `create database ${name}`)
      return name
    },
    /** Stops replication, so that the standby receives nothing more. */
    cutLine: () => line.away(),
    /** Pauses the postmaster, so that the primary accepts no new connections; existing ones continue. */
    freezePrimary: () => process.kill(first.pid, 'SIGSTOP'),
    thawPrimary: () => process.kill(first.pid, 'SIGCONT'),
    /** kill -9 */
    async killPrimary() {
      process.kill(first.pid, 'SIGKILL')
      await first.ended
    },
    async promote() {
      await ask(1, 'select pg_promote(true, 30)')
    },
    async stop() {
      await Promise.all([first.stop(), second.stop()])
      await line.close().catch(() => {})
      removeFolder()
      rmSync(around, { recursive: true, force: true })
    },
  }
}
