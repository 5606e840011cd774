import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import openClient, { type Sql } from 'postgres'
import { type Db, rows } from '#lib/platform/db/database.ts'
import { CERTIFICATE } from '../../test/support/certificates.ts'
import { startOwnPostgres } from '../../test/support/postgres.ts'
import { NODE_FLAGS } from '../../test/support/sluice.ts'
import type { Target } from '../load.ts'
import { cpuOfPostgres, memoryOfPostgres, pssOf } from '../postgres-usage.ts'
import { compiled, type Measured, type Sink, startMeasured, startTusd, type Usage } from '../processes.ts'
import { startDefault, startSluiceNode } from '../sluice-site.ts'

export const BY_DEFAULT = 'started with npm start'
export const WAYS = ['plain HTTP', 'TLS to the bucket', 'TLS from clients', BY_DEFAULT] as const
export type Way = (typeof WAYS)[number]
export type Name = 'bare' | 'floor' | 'ledger floor' | 'tusd' | '@tus' | 'Sluice'
export type Contender = {
  name: Name
  target: Target
  usage(): Promise<Usage>
  database(): number
  memoryBytes(): Promise<number>
  /** Resolves when nothing is left to do after a load. */
  settled(): Promise<void>
}
/** The programs to start, and a PostgreSQL server for Sluice. */
export type Site = { tusd: string; sluice: string; postgresUrl: string }

/** Each contender terminates TLS itself. */
export async function lineUp(way: Way, site: Site, sink: Sink) {
  if (way === BY_DEFAULT) return lineUpDefault(site, sink)
  const trust = { NODE_EXTRA_CA_CERTS: CERTIFICATE.cert }
  const isTls = way === 'TLS from clients'
  const tls = { TLS_CERT_FILE: CERTIFICATE.cert, TLS_KEY_FILE: CERTIFICATE.key }
  const env = { ...trust, ...(isTls && tls) }
  const sluice = await startSluiceNode(site.postgresUrl, sink.url, env, site.sluice)
  const bare = await startMeasured(compiled('./nodes/bare.ts'), { SINK: sink.url, ...env })
  // The floors only matter with TLS to the bucket: over plain HTTP nothing is encrypted, and a part costs next to
  // nothing.
  const floors = way === 'TLS to the bucket' ? await startFloors(sink, env) : undefined
  const tusd = await startTusd(site.tusd, sink.url, {
    trusted: CERTIFICATE.cert,
    ...(isTls && { tls: CERTIFICATE }),
  })
  const tus =
    way === 'plain HTTP'
      ? await startMeasured(compiled('./nodes/peer.ts'), { SINK: sink.url, ...trust })
      : undefined
  const database = cpuOfPostgres(await backendOf(sluice.database.db))
  const contenders: Contender[] = [
    contender('bare', bare, { collection: `${bare.url}/`, headers: {} }),
    ...(floors ? [floors.plain, floors.ledger] : []),
    contender('tusd', tusd, { collection: `${tusd.url}/files/`, headers: {} }),
    ...(tus ? [contender('@tus', tus, { collection: `${tus.url}/files`, headers: {} })] : []),
    { ...contender('Sluice', sluice.node, sluice.target), database },
  ]
  return {
    contenders,
    async stop() {
      for (const part of [bare, floors, tusd, tus, sluice.node]) await part?.stop()
      await sluice.drop()
    },
  }
}

/** PostgreSQL's memory and the webhooks count as Sluice's. */
async function lineUpDefault(site: Site, sink: Sink) {
  const tusd = await startTusd(site.tusd, sink.url, {})
  const { node, target, database, drop } = await startDefault(sink.url)
  const backend = await backendOf(database.db)
  const ofTusd = contender('tusd', tusd, { collection: `${tusd.url}/files/`, headers: {} })
  const contenders: Contender[] = [
    { ...ofTusd, memoryBytes: async () => pssOf(tusd.pid) },
    {
      ...contender('Sluice', node, target),
      database: cpuOfPostgres(backend),
      memoryBytes: async () => pssOf(node.pid) + memoryOfPostgres(backend),
      async settled() {
        const due = () => rows(database.db, sql`select from deliveries where state = 'pending' limit 1`)
        while ((await due()).length > 0) await pause(100)
      },
    },
  ]
  return {
    contenders,
    async stop() {
      for (const part of [tusd, node]) await part.stop()
      await drop()
    },
  }
}

/** The least that Node must do, without and with a ledger in PostgreSQL. */
async function startFloors(sink: Sink, env: Record<string, string>) {
  // With a PostgreSQL server of its own, so that none of its work is counted as Sluice's.
  const postgres = await startOwnPostgres()
  const client = openClient(postgres.url, { max: 1 })
  const start = (more: Record<string, string>) =>
    startMeasured(compiled('./nodes/floor.ts'), { SINK: sink.url, ...env, ...more }, NODE_FLAGS)
  const [plain, ledger] = [await start({}), await start({ DATABASE_URL: postgres.url })]
  const target = (node: Measured) => ({ collection: `${node.url}/`, headers: {} })
  return {
    plain: contender('floor', plain, target(plain)),
    ledger: { ...contender('ledger floor', ledger, target(ledger)), database: await cpuOfServer(client) },
    async stop() {
      for (const node of [plain, ledger]) await node.stop()
      await client.end()
      await postgres.stop()
    },
  }
}

function contender(name: Name, { usage }: Measured, target: Target): Contender {
  const memoryBytes = async () => (await usage()).rssBytes
  return { name, target, usage, database: () => 0, memoryBytes, settled: async () => {} }
}

async function cpuOfServer(client: Sql): Promise<() => number> {
  const [backend] = await client`select pg_backend_pid() as pid`
  return cpuOfPostgres(backend!.pid)
}

async function backendOf(db: Db): Promise<number> {
  const [backend] = await rows<{ pid: number }>(db, sql`select pg_backend_pid() as pid`)
  return backend!.pid
}
