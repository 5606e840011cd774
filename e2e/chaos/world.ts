import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseHandle } from '#lib/platform/db/database.ts'
import { migrate } from '#lib/platform/db/migrate.ts'
import { openDatabase } from '#lib/platform/db/open-database.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { createLogger } from '#lib/platform/log/log.ts'
import { ALL_ACTIONS } from '#packages/local-bucket/key-ring.ts'
import { createDatabase } from '../../test/support/postgres.ts'
import type { Random } from '../../test/support/random.ts'
import { temporaryFolder } from '../../test/support/sluice.ts'
import { type Balancer, startBalancer } from './balancer.ts'
import type { BucketNews, BucketOptions, BucketOrder, BucketReport } from './bucket.ts'
import { addCustomer, BUCKETS, type Customer } from './customer.ts'
import type { Log } from './log.ts'
import { type Node, type Parts, type Role, startNode } from './nodes.ts'
import { type Receiver, startReceiver } from './receiver.ts'

/** A complete Sluice deployment on one machine, with handles to everything that can fail. */
export type World = {
  database: DatabaseHandle
  balancer: Balancer
  receiver: Receiver
  customer: Customer
  nodes: Node[]
  dataDir: string
  bucket: {
    directory: string
    /** Whether its keys only allow PutObject, so that abandoned uploads cannot be cleaned up. */
    putOnly: boolean
    order(order: BucketOrder): void
    report(): Promise<BucketReport>
    /** Resolves to the next message of a kind. */
    news<Kind extends string>(kind: Kind): Promise<Extract<BucketNews, Record<Kind, unknown>>>
  }
  /** Starts the first worker running this version, which migrates the database. */
  upgrade(): Promise<void>
  close(): Promise<void>
}

const UPLOAD_NODES: [Role[], string][] = [
  [['upload'], 'upload-1'],
  [['upload'], 'upload-2'],
]
const WORKER: [Role[], string] = [['worker'], 'worker']
const NODES: [Role[], string][] = [...UPLOAD_NODES, [['web'], 'web'], WORKER]
const ONE_NODE: [Role[], string][] = [[['upload', 'web', 'worker'], 'sluice']]

const KEYS = { accessKeyId: 'AKIAPUTONLY', secretAccessKey: 'a secret of the bucket' }

/**
 * With `processes`, there is one node with this many processes. Without `postgresUrl`, there is one node with an
 * embedded database.
 */
type Versions = { older: string; newer: string }
type OpenedDatabase = { url: string; drop(): Promise<void>; env?: Record<string, string> }
export type Shape = {
  postgresUrl?: string | undefined
  processes?: number | undefined
  /** One of the Pipes has two required destinations and a best-effort one. */
  severalDestinations?: boolean
  /** The Data Stores whose providers allow it have no keys, but a cloud that trusts Sluice. */
  temporaryKeys?: boolean
  /** Used instead of `postgresUrl`. */
  openDatabase?: (() => Promise<OpenedDatabase>) | undefined
  /** The sources of two versions: upload nodes run the older one at first and, after the upgrade, at every other start. */
  versions?: Versions | undefined
}

export async function openWorld(shape: Shape, random: Random, log: Log): Promise<World> {
  const { postgresUrl, processes, severalDestinations = false, temporaryKeys } = shape
  const openDatabase = shape.openDatabase ?? (postgresUrl && (() => createDatabase(postgresUrl)))
  const folder = temporaryFolder()
  const dataDir = join(folder.path, 'data')
  const receiver = await startReceiver(random.fork('receiver'))
  const balancer = await startBalancer()
  const directory = join(folder.path, 'bucket')
  const putOnly = random.chance(0.5)
  const bucket = await startBucket(directory, putOnly)
  const env = { ...settings(balancer.url, dataDir), ...(processes && settingsOf(processes)) }
  const nodesOf = processes ? ONE_NODE : NODES
  const start = openDatabase ? startShared(env, openDatabase, nodesOf, shape.versions) : startEmbedded(env)
  const { database, nodes, upgrade, close } = await start({ balancer, log })
  const keys = { ...KEYS, putOnly }
  const { endpoint } = bucket
  const cloudEndpoint = temporaryKeys ? bucket.cloudEndpoint : undefined
  const place = { ...keys, endpoint, cloudEndpoint, receiverUrl: receiver.url, severalDestinations }
  const customer = await adderOf(shape.versions).then((add) => add(database, place))
  bucket.child.send({ trust: { issuer: balancer.url, subjects: customer.subjects } } satisfies BucketOrder)
  receiver.verifyWith(customer.pipes.map(({ webhookSecret }) => webhookSecret))
  return {
    database,
    balancer,
    receiver,
    customer,
    nodes,
    dataDir,
    bucket: {
      directory,
      putOnly,
      order: (order) => bucket.child.send(order),
      report() {
        const told = nextNews(bucket.child, 'unheard')
        bucket.child.send('tell' satisfies BucketOrder)
        return told
      },
      news: (kind) => nextNews(bucket.child, kind),
    },
    upgrade,
    async close() {
      await close()
      bucket.child.disconnect()
      await Promise.all([once(bucket.child, 'exit'), receiver.close(), balancer.close()])
      folder[Symbol.dispose]()
    },
  }
}

/** Only the older version's code can write to its schema. */
async function adderOf(versions: Versions | undefined): Promise<typeof addCustomer> {
  if (!versions) return addCustomer
  const code: { addCustomer: typeof addCustomer } = await import(
    join(versions.older, 'e2e/chaos/customer.ts')
  )
  return code.addCustomer
}

type Started = Pick<World, 'database' | 'nodes' | 'upgrade' | 'close'>
type Start = (parts: { balancer: Balancer; log: Log }) => Promise<Started>
type Environment = Record<'DATA_DIR', string> & Record<string, string>

function startShared(
  env: Environment,
  open: () => Promise<OpenedDatabase>,
  nodesOf: typeof NODES,
  versions?: Versions,
): Start {
  return async (parts) => {
    const { url, drop, env: place } = await open()
    const database = openPostgres({ address: url, maxConnections: 4 })
    if (!versions) await migrate(database.db)
    let isUpgraded = false
    const start = ([roles, name]: [Role[], string], { sourceOf }: Pick<Parts, 'sourceOf'> = {}) =>
      startNode(roles, name, { ...env, DATABASE_URL: url, ...place }, { ...parts, sourceOf })
    /** Runs the older version until the upgrade, and then alternates between the two. */
    const eitherVersion = ({ older, newer }: Versions) => {
      let ranOlder = false
      return {
        sourceOf() {
          ranOlder = !isUpgraded || !ranOlder
          parts.log.count(ranOlder ? 'starts of the older version' : 'starts of this version')
          return ranOlder ? older : newer
        },
      }
    }
    const nodes = await Promise.all(
      versions
        ? UPLOAD_NODES.map((node) => start(node, eitherVersion(versions)))
        : nodesOf.map((node) => start(node)),
    )
    const upgrade = async () => {
      nodes.push(await start(WORKER, { sourceOf: () => versions!.newer }))
      isUpgraded = true
    }
    const close = async () => {
      await Promise.all(nodes.filter(({ running }) => running).map((node) => node.kill()))
      await database.close()
      await drop()
    }
    return { database, nodes, upgrade, close }
  }
}

function startEmbedded(env: Environment): Start {
  return async (parts) => {
    const node = await startNode(['upload', 'web', 'worker'], 'sluice', env, parts)
    const log = createLogger('silent')
    const database = await openDatabase({ dataDir: env.DATA_DIR }, { log, share: true })
    const close = async () => {
      await database.close()
      await node.stop()
    }
    const upgrade = () => Promise.reject(new Error('An embedded database is upgraded by its own node.'))
    return { database, nodes: [node], upgrade, close }
  }
}

async function nextNews<Kind extends string>(bucket: ChildProcess, kind: Kind) {
  for (;;) {
    const [news] = (await once(bucket, 'message')) as [BucketNews]
    if (kind in news) return news as Extract<BucketNews, Record<Kind, unknown>>
  }
}

function settings(baseUrl: string, dataDir: string): Environment {
  return {
    DATA_DIR: dataDir,
    DEMO: '0',
    BASE_URL: baseUrl,
    HOST: '127.0.0.1',
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    AUTH_SECRET: 'a secret of thirty-two characters',
    ALLOWED_PRIVATE_HOSTS: '*',
    FREE_TIER_BYTES: '0',
    // The minimum, so that uploads often have to wait for memory.
    UPLOAD_MEMORY_BYTES: String(MIN_MEMORY_BYTES),
    LOG_LEVEL: 'warn',
  }
}

const MIN_MEMORY_BYTES = 64 * 1024 * 1024

/** The log shows which process did what. */
const settingsOf = (processes: number) => ({
  PROCESSES: String(processes),
  UPLOAD_MEMORY_BYTES: String(processes * MIN_MEMORY_BYTES),
  ACCESS_LOG: 'all',
})

type Endpoints = { endpoint: string; cloudEndpoint: string }

/** Half of the runs use put-only keys. */
async function startBucket(
  directory: string,
  putOnly: boolean,
): Promise<{ child: ChildProcess } & Endpoints> {
  mkdirSync(directory, { recursive: true })
  const actions = putOnly ? ALL_ACTIONS.filter((action) => action === 's3:PutObject') : ALL_ACTIONS
  const options: BucketOptions = {
    directory,
    buckets: [...BUCKETS],
    keys: [{ ...KEYS, actions }],
  }
  const child = fork(join(import.meta.dirname, 'bucket.ts'), [JSON.stringify(options)], { execArgv: [] })
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('The bucket did not start.')))
  const [endpoints] = (await Promise.race([once(child, 'message'), ended])) as [Endpoints]
  ended.catch(() => {})
  return { child, ...endpoints }
}
