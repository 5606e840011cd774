import { sql } from 'drizzle-orm'
import { rows } from '#lib/platform/db/database.ts'
import type { Certificate } from '../certificate.ts'
import type { Target } from '../load.ts'
import { measurePostgres } from '../postgres-usage.ts'
import { type Measured, type Sink, startMeasured, startTusd, type Usage } from '../processes.ts'
import { type SluiceNode, startSluiceNode } from '../sluice-site.ts'

export const WAYS = ['plain HTTP', 'TLS to the bucket', 'TLS from clients'] as const
export type Way = (typeof WAYS)[number]
export type Name = 'bare' | 'tusd' | '@tus' | 'Sluice'
export type Contender = {
  name: Name
  target: Target
  /** Of its process, with that of the balancer before it. */
  usage(): Promise<Usage>
  pids: number[]
  database(): number
}
export type Site = { program: string; postgresUrl: string; certificate: Certificate }

/** Sluice leaves the TLS of clients to a balancer; here to a small one in Node, whose CPU counts as its own. tusd ends it itself. */
export async function lineUp(way: Way, { program, postgresUrl, certificate }: Site, sink: Sink) {
  const trusted = certificate.cert
  const trust = { NODE_EXTRA_CA_CERTS: trusted }
  const terminated = way === 'TLS from clients'
  const env = { SINK: sink.url, ...trust }
  const site = await startSluiceNode(postgresUrl, sink.url, trust)
  const bare = await startMeasured('./nodes/bare.ts', env)
  const tusd = await startTusd(program, sink.url, { trusted, ...(terminated && { tls: certificate }) })
  const tus = way === 'plain HTTP' ? await startMeasured('./nodes/peer.ts', env) : undefined
  const before = async (node: Measured) =>
    terminated
      ? startMeasured('./nodes/terminator.ts', {
          BEHIND: node.url,
          TLS_KEY: certificate.key,
          TLS_CERT: trusted,
        })
      : undefined
  const balancers = [await before(bare), await before(site.node)] as const
  const database = await databaseOf(site)
  const contenders: Contender[] = [
    contender('bare', bare, { collection: `${bare.url}/`, headers: {} }, balancers[0]),
    contender('tusd', tusd, { collection: `${tusd.url}/files/`, headers: {} }),
    ...(tus ? [contender('@tus', tus, { collection: `${tus.url}/files`, headers: {} })] : []),
    { ...contender('Sluice', site.node, site.target, balancers[1]), database },
  ]
  return {
    contenders,
    async stop() {
      for (const part of [...balancers, bare, tusd, tus, site.node]) await part?.stop()
      await site.drop()
    },
  }
}

function contender(name: Name, node: Measured, target: Target, balancer?: Measured): Contender {
  const usage = async () => {
    const [own, its] = [await node.usage(), await balancer?.usage()]
    return {
      ...own,
      cpuSeconds: own.cpuSeconds + (its?.cpuSeconds ?? 0),
      rssBytes: own.rssBytes + (its?.rssBytes ?? 0),
    }
  }
  const database = () => 0
  const pids = balancer ? [node.pid, balancer.pid] : [node.pid]
  if (!balancer) return { name, target, usage, pids, database }
  const { pathname, host } = new URL(target.collection)
  const behind = { collection: balancer.url + pathname, headers: { Host: host, ...target.headers } }
  return { name, target: behind, usage, pids, database }
}

async function databaseOf({ database }: SluiceNode): Promise<() => number> {
  const [backend] = await rows<{ pid: number }>(database.db, sql`select pg_backend_pid() as pid`)
  const usage = measurePostgres(backend!.pid)
  return () => usage().cpuSeconds
}
