import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { makeCluster, USER } from '#lib/platform/db/embedded/make-cluster.ts'
import { findPrograms } from '#lib/platform/db/embedded/programs.ts'
import { HERE, runAs } from '#lib/platform/db/embedded/run-as.ts'
import { startPostmaster } from '#lib/platform/db/embedded/start-postmaster.ts'
import { createLogger } from '#lib/platform/log/log.ts'
import { removeWithThisProcess } from './until-exit.ts'

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
