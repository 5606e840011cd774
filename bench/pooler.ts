import { sql } from 'drizzle-orm'
import { rows } from '#lib/platform/db/database.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { renewLeases } from '#lib/uploads/ledger/leases.ts'
import { hasPgbouncer, startPgbouncer } from '../test/support/pgbouncer.ts'
import { createDatabase } from '../test/support/postgres.ts'
import { addOpenUploads, leasesOf } from './capacity/open-uploads.ts'
import type { Finding } from './cases.ts'
import { inTurns, seconds } from './in-turns.ts'
import { create, head, inParallel, upload } from './load.ts'
import { usageOf } from './postgres-usage.ts'
import { type SluiceNode, startSluiceNode } from './sluice-site.ts'

/** Compares a node behind PgBouncer in transaction mode with one that connects to PostgreSQL directly. */
const SERVER_CONNECTIONS = 50
const LEASES = 40_000
/** As in lib/uploads/lease/lease-renewal.ts. */
const RENEWED_TOGETHER = 50
const RENEWAL_MS = 5000
const REQUESTS = 3000
const FILES = 400
const ENOUGH = 1.1

type Loaded = { name: string; node: SluiceNode; poolerPid?: number }

export async function benchPooler(postgresUrl: string, sinkUrl: string): Promise<Finding[]> {
  if (!hasPgbouncer()) {
    console.log('  skipped: PgBouncer is not installed')
    return []
  }
  const { url, drop } = await createDatabase(postgresUrl)
  const pooler = await startPgbouncer(url, { mode: 'transaction', serverConnections: SERVER_CONNECTIONS })
  const pooled = await startSluiceNode(postgresUrl, sinkUrl, {
    DATABASE_URL: pooler.url,
    DATABASE_DIRECT_URL: url,
  })
  const direct = await startSluiceNode(postgresUrl, sinkUrl)
  try {
    const contenders: Loaded[] = [
      { name: 'direct', node: direct },
      { name: 'pooled', node: pooled, poolerPid: pooler.pid },
    ]
    return [
      ...(await compare('a HEAD', contenders, REQUESTS, askForOffset)),
      ...(await compare('a file of 4 KiB in POST and PATCH', contenders, FILES, sendSmall)),
      await renew(pooled, pooler.url),
    ]
  } finally {
    for (const { node, drop: dropNode } of [pooled, direct]) {
      await node.stop()
      await dropNode()
    }
    await pooler.stop()
    await drop()
  }
}

async function askForOffset({ target }: SluiceNode): Promise<void> {
  const at = await create(target, 100)
  await inParallel(REQUESTS, 16, () => head(target, at))
}

const sendSmall = ({ target }: SluiceNode) => inParallel(FILES, 8, () => upload(target, 4096))

async function compare(
  what: string,
  contenders: Loaded[],
  count: number,
  work: (node: SluiceNode) => Promise<void>,
): Promise<Finding[]> {
  const poolers: number[] = []
  const cpuOf = async ({ node, poolerPid }: Loaded) => {
    const before = (await node.node.usage()).cpuSeconds
    const poolerBefore = poolerPid === undefined ? 0 : usageOf(poolerPid).cpuSeconds
    await work(node)
    if (poolerPid !== undefined) poolers.push(usageOf(poolerPid).cpuSeconds - poolerBefore)
    return (await node.node.usage()).cpuSeconds - before
  }
  for (const contender of contenders) await work(contender.node)
  const [direct, pooled] = (await inTurns(cpuOf, contenders)) as [number, number]
  const ms = (cpuSeconds: number) => ((cpuSeconds / count) * 1000).toFixed(3)
  const pooler = poolers.reduce((sum, one) => sum + one, 0) / poolers.length
  return [
    {
      what: `CPU of ${what} behind a pooler, relative to a direct connection`,
      measured: `${(pooled / direct).toFixed(2)} times (${ms(pooled)} and ${ms(direct)} ms; PgBouncer itself ${ms(pooler)} ms)`,
      wanted: `≤ ${ENOUGH} times`,
      holds: pooled / direct <= ENOUGH,
    },
  ]
}

/** Renews the leases of 40,000 uploads whose clients send at the same time. Each must be renewed every five seconds. */
async function renew({ database, target }: SluiceNode, poolerUrl: string): Promise<Finding> {
  await create(target, 100)
  const own = sql`select f.workspace_id as "workspaceId", f.pipe_id as "pipeId", f.sender_id as "senderId", d.data_store_id as "dataStoreId"
    from files f join file_destinations d on d.file_id = f.id limit 1`
  type Owner = Parameters<typeof addOpenUploads>[1]
  const [owner] = await rows<Owner>(database.db, own)
  await addOpenUploads(database.db, owner!, 0, LEASES)
  const through = openPostgres({ address: poolerUrl, maxConnections: SERVER_CONNECTIONS })
  let next = 0
  let renewed = 0
  const one = async () => {
    while (next < LEASES / RENEWED_TOGETHER) {
      const some = leasesOf(1 + next++ * RENEWED_TOGETHER, RENEWED_TOGETHER)
      const kept = await renewLeases(through.db, some, 15_000)
      renewed += kept.size
    }
  }
  const took = await seconds(() => Promise.all(Array.from({ length: SERVER_CONNECTIONS }, one)))
  await through.close()
  return {
    what: `${LEASES.toLocaleString('en')} leases renewed over ${SERVER_CONNECTIONS} connections of a pooler`,
    measured: `${took.toFixed(1)} s, ${renewed.toLocaleString('en')} kept`,
    wanted: `all, within ${RENEWAL_MS / 1000} s`,
    holds: renewed === LEASES && took * 1000 <= RENEWAL_MS,
  }
}
