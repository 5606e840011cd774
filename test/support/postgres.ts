import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, lchownSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import postgres from 'postgres'
import { makeCluster, USER } from '#lib/platform/db/embedded/make-cluster.ts'
import { findPrograms } from '#lib/platform/db/embedded/programs.ts'
import { HERE, runAs } from '#lib/platform/db/embedded/run-as.ts'
import { startPostmaster } from '#lib/platform/db/embedded/start-postmaster.ts'
import { createLogger } from '#lib/platform/log/log.ts'
import { openBreakableLine } from './tcp-proxies.ts'
import { endWithThisProcess, removeWithThisProcess } from './until-exit.ts'

export type PostgresServer = {
  /** The URL of its maintenance database; the user may create databases. */
  url: string
  stop(): Promise<void>
}

export type TestDatabase = { name: string; url: string; drop(): Promise<void> }

/**
 * Uses the PostgreSQL server at DATABASE_URL, otherwise starts one in a temporary folder, with the same programs that
 * Sluice itself runs.
 */
export async function startPostgres(settings: Settings = SETTINGS): Promise<PostgresServer> {
  const given = process.env.DATABASE_URL
  return given ? { url: given, stop: async () => {} } : startOwnPostgres(settings)
}

type Settings = Record<string, string | number>

/**
 * Settings for many simultaneous clients, without durability. Autovacuum is off because it would visit every test's
 * database in turn.
 */
const SETTINGS: Settings = {
  autovacuum: 'off',
  fsync: 'off',
  full_page_writes: 'off',
  max_connections: 300,
  shared_buffers: '128MB',
  max_wal_size: '2GB',
}

const EVERYBODY = 'everybody.conf'

export async function startOwnPostgres(chosen: Settings = SETTINGS): Promise<PostgresServer> {
  const around = mkdtempSync(join(tmpdir(), 'sluice-postgres-'))
  const removeFolder = removeWithThisProcess(around)
  const folder = join(around, 'db')
  const as = runAs(folder)
  const programs = findPrograms(around, as)
  await makeCluster({ programs, folder, as, durable: false })
  const everybody = join(folder, EVERYBODY)
  writeFileSync(everybody, 'host all all 127.0.0.1/32 trust\n')
  chmodSync(everybody, 0o644)
  const port = await freePort()
  const place = { host: '127.0.0.1', port, user: USER, password: '', database: 'postgres' }
  const log = createLogger('silent')
  const settings = { ...chosen, hba_file: join(HERE ?? folder, EVERYBODY) }
  const server = await startPostmaster({ programs, folder, place, as, log, settings })
  return {
    url: `postgres://${USER}@127.0.0.1:${port}/postgres`,
    async stop() {
      await server.stop()
      removeFolder()
    },
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** This strategy takes a quarter of the CPU time of the default strategy, which writes each page to the WAL. */
const COPY = ' strategy file_copy'

/** Creates a database on this server: empty, or a copy of a template that nobody is connected to. */
export async function createDatabase(serverUrl: string, template?: string): Promise<TestDatabase> {
  const name = `sluice_${process.pid}_${Math.random().toString(36).slice(2, 10)}`
  const admin = async (statement: string) => {
    const client = postgres(serverUrl, { max: 1, onnotice: () => {} })
    await client.unsafe(statement).finally(() => client.end())
  }
  await admin(`create database ${name}${template ? ` template ${template}${COPY}` : ''}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return { name, url: url.href, drop: () => admin(`drop database if exists ${name} with (force)`) }
}

/** A separate PostgreSQL server whose processes can all be paused while they work. */
export async function freezablePostgres() {
  const server = await startOwnPostgres()
  const client = postgres(server.url, { max: 1, onnotice: () => {} })
  let frozen: number[] = []
  const signal = (name: NodeJS.Signals) => {
    for (const pid of frozen) {
      try {
        process.kill(pid, name)
      } catch {
        // The process has exited since it was listed.
      }
    }
  }
  const thaw = () => {
    signal('SIGCONT')
    frozen = []
  }
  return {
    url: server.url,
    async freeze() {
      const [{ file }] = await client<[{ file: string }]>`select pg_read_file('postmaster.pid') as file`
      const others = await client<{ pid: number }[]>`select pid from pg_stat_activity`
      frozen = [Number.parseInt(file, 10), ...others.map(({ pid }) => pid)]
      signal('SIGSTOP')
    },
    thaw,
    async stop() {
      thaw()
      await client.end()
      await server.stop()
    },
  }
}

const NOBODY = 65_534

export const hasPgbouncer = (): boolean => spawnSync('pgbouncer', ['--version']).status === 0

/** Starts PgBouncer, which must be installed, in front of the server at this URL. */
export async function startPgbouncer(
  serverUrl: string,
  { mode, serverConnections = 10 }: { mode: 'session' | 'transaction'; serverConnections?: number },
) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-pgbouncer-'))
  const removeFolder = removeWithThisProcess(folder)
  const { hostname, port: serverPort, username, pathname } = new URL(serverUrl)
  const port = await freePort()
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: mode,
    default_pool_size: serverConnections,
    max_client_conn: 1000,
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  const config = join(folder, 'pgbouncer.ini')
  const target = `host=${hostname} port=${serverPort} user=${username}`
  writeFileSync(config, `[databases]\n* = ${target}\n[pgbouncer]\n${lines.join('\n')}\n`, { mode: 0o644 })
  chmodSync(folder, 0o755)
  const as = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  const child = spawn('pgbouncer', [config], { ...as, stdio: ['ignore', 'ignore', 'pipe'] })
  endWithThisProcess(child)
  const up = Promise.withResolvers<void>()
  createInterface(child.stderr!).on('line', (line) => line.includes('process up') && up.resolve())
  await Promise.race([
    up.promise,
    once(child, 'exit').then(() => Promise.reject(new Error('PgBouncer exited.'))),
  ])
  return {
    pid: child.pid!,
    url: `postgres://${username}@127.0.0.1:${port}${pathname}`,
    async stop() {
      child.kill('SIGKILL')
      await once(child, 'exit')
      removeFolder()
    },
  }
}

/** A primary and its standby, which can take over. The connection between them can be cut. */
export type PostgresPair = Awaited<ReturnType<typeof startPair>>

const HBA = 'host all all 127.0.0.1/32 trust\nhost replication all 127.0.0.1/32 trust\n'
const PAIR_SETTINGS = {
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
    const settings = { ...PAIR_SETTINGS, hba_file: join(HERE ?? folder, 'pair.conf'), ...more }
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
