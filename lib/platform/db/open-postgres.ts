import { parsePgArray } from 'drizzle-orm/pg-core'
import { drizzle } from 'drizzle-orm/postgres-js'
import type { Sql } from 'postgres'
import * as schema from '#drizzle/schema/index.ts'
import { StartError } from '../kernel/errors.ts'
import { within } from '../kernel/waits.ts'
import type { Logger } from '../log/log.ts'
import type { Role } from '../settings/settings.ts'
import { createTurns } from '../turns.ts'
import type { Address, DatabaseHandle, Db } from './database.ts'
import { isReadOnly } from './faults.ts'
import { forgetful, guardTransactions, takeTurns } from './guard-client.ts'
import { currentKind, type Lane, lanesOf, limitStatements } from './lanes.ts'
import type { Outages } from './outages.ts'
import { connect, Primary } from './primary.ts'

export type PostgresOptions = {
  address: Address
  /** The address without a pooler, for features that need a session: notifications and the queue. */
  directAddress?: Address | undefined
  maxConnections?: number | undefined
  /** The roles of this process, whose kinds of work get connections of their own. By default, all work shares them. */
  roles?: ReadonlySet<Role> | undefined
  onNotice?: (message: string) => void
  outages?: { watch: Outages; log: Logger } | undefined
}

/**
 * The maximum pause between connection attempts. By default, it grows to 20 s: statements would take that long to fail
 * while the database is down, or to succeed once it is back.
 */
const MAX_BACKOFF_SECONDS = 0.5
const OPTIONS = {
  backoff: (failures: number) => Math.min(0.05 * 2 ** failures, MAX_BACKOFF_SECONDS),
  // postgres.js does not await its query for array types, so a session that ends during the query would crash the
  // process.
  fetch_types: false,
  types: {
    // Every bigint in the schema stays below 2^53.
    bigint: { to: 20, from: [20], serialize: String, parse: Number },
    // text[] and uuid[], the only array types in use; Drizzle has already serialized them.
    array: { to: 1009, from: [1009, 2951], serialize: String, parse: parsePgArray },
  },
  connection: { application_name: 'sluice' },
}
/** How many statements and transactions may wait for a connection, for each kind of work and for each workspace. */
const WAITING = { waiting: 10_000, waitingForEach: 2000 }

/** PostgreSQL 13 or newer, through postgres.js. */
export function openPostgres({
  address,
  directAddress = address,
  maxConnections = 20,
  roles = new Set(),
  onNotice,
  outages,
}: PostgresOptions): DatabaseHandle {
  const primary = new Primary(address)
  const options = {
    ...OPTIONS,
    onnotice: (notice: { message?: string }) => onNotice?.(String(notice.message)),
  }
  const watch = outages && endingReadOnly(outages.watch, primary)
  const lanes = lanesOf(roles, maxConnections).map((lane) => {
    const client = connect(address, { ...options, max: lane.connections }, primary)
    return { ...lane, client, db: openLane(client, lane, watch) }
  })
  const { client, db } = lanes.find(({ kind }) => kind === 'background')!
  const current = () => lanes.find(({ kind }) => kind === currentKind())?.db ?? db
  const isBesidePooler = directAddress !== address
  const direct = isBesidePooler ? new Primary(directAddress) : primary
  const listener = isBesidePooler ? connect(directAddress, { ...options, max: 1 }, direct) : client
  if (outages) watchOutages(primary, outages)
  return {
    kind: 'postgres',
    address: directAddress,
    direct: { address: direct.address, socket: () => direct.socket(), isBesidePooler },
    db: new Proxy(db, { get: (_, name) => Reflect.get(current(), name) }),
    reach: () => primary.find(),
    async usePooler() {
      const found = await usePooler(client, { hasDirect: isBesidePooler })
      for (const lane of lanes) lane.client.options.prepare = client.options.prepare
      // A pooler refuses connections with settings that it does not know.
      if (!isBesidePooler && !(await isPooled(client))) lanes.forEach(limitStatements)
      return found
    },
    async listen(channel, onMessage) {
      let lines = 0
      const subscription = await listener.listen(channel, onMessage, () => {
        if (lines++ > 0) onMessage(null)
      })
      return () => subscription.unlisten()
    },
    async close() {
      outages?.watch.close()
      const clients = new Set([...lanes.map((lane) => lane.client), listener])
      await Promise.all([...clients].map((one) => one.end({ timeout: 5 })))
    },
  }
}

function openLane(client: Sql, { connections }: Lane, watch: Outages | undefined): Db {
  takeTurns(client, createTurns({ most: connections, ...WAITING }))
  client.unsafe = forgetful(client.unsafe, watch)
  guardTransactions(client, watch)
  return drizzle(client, { schema, casing: 'snake_case' })
}

/**
 * Closes the connections to a server that refuses writes. It is probably a standby, so they would stay useless even
 * after another server has become the primary.
 */
function endingReadOnly(outages: Outages, primary: Primary): Outages {
  const leave = (error: unknown) => isReadOnly(error) && primary.leave()
  return {
    ...outages,
    begun(giveUp) {
      const ended = outages.begun(giveUp)
      return (error) => {
        ended(error)
        leave(error)
      }
    },
  }
}

function watchOutages(primary: Primary, { watch, log }: { watch: Outages; log: Logger }): void {
  watch.watch({
    ask: () => primary.find(),
    onAway: (cause) => log.error({ why: String(cause) }, 'the database is not responding'),
    onBack: (awayMs) =>
      log.warn({ awayMs: Math.round(awayMs), server: primary.place }, 'the database is responding again'),
    onCalm: (failures) => log.warn({ failures }, 'the database no longer fails statements'),
  })
}

/**
 * A pooler such as PgBouncer may use a different session for each transaction. Notifications then do not arrive, so
 * they and the queue need DATABASE_DIRECT_URL; and prepared statements only work if the pooler prepares them again
 * where they are missing, as PgBouncer 1.21 and newer does with `max_prepared_statements`. The pooler's behavior is
 * detected once, at startup.
 */
export async function usePooler(
  client: Sql,
  { hasDirect }: { hasDirect: boolean },
): Promise<string | undefined> {
  if (client.options.prepare === false && hasDirect) return undefined
  if (!(await isPooled(client))) return undefined
  if (!hasDirect) {
    if (await hearsNotifications(client)) return undefined
    throw new StartError(
      'DATABASE_URL points to a pooler that does not keep sessions, so notifications do not arrive. Set DATABASE_DIRECT_URL to the address of PostgreSQL itself, or let the pooler keep sessions (pool_mode = session).',
    )
  }
  if (await keepsStatements(client)) return 'a pooler that keeps prepared statements'
  client.options.prepare = false
  return 'a pooler that does not keep prepared statements, so none are used; PgBouncer 1.21 and newer keeps them with max_prepared_statements'
}

/** Behind a pooler, a connection's cancel key does not match any server process. */
async function isPooled(client: Sql): Promise<boolean> {
  const answer = await client.unsafe('select pg_backend_pid() as pid')
  return answer.state.pid !== answer[0]!.pid
}

const HEARD_WITHIN_MS = 1500

async function hearsNotifications(client: Sql): Promise<boolean> {
  const heard = Promise.withResolvers<void>()
  const channel = 'sluice_pooler'
  const { unlisten } = await client.listen(channel, () => heard.resolve())
  await client.notify(channel, '')
  const outcome = await within(HEARD_WITHIN_MS, heard.promise)
  await unlisten()
  return outcome !== 'late'
}

const PREPARED = 'select name from pg_prepared_statements where statement like $1'

/** A pooler that keeps prepared statements renames them. */
async function keepsStatements(client: Sql): Promise<boolean> {
  const found = await client.unsafe(PREPARED, [`${PREPARED.slice(0, 30)}%`], { prepare: true })
  const own = found.statement.name
  return found.length > 0 && found.every(({ name }) => name !== own)
}
