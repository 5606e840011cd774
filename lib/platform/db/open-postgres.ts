import { parsePgArray } from 'drizzle-orm/pg-core'
import { drizzle } from 'drizzle-orm/postgres-js'
import * as schema from '#drizzle/schema/index.ts'
import type { Logger } from '../log/log.ts'
import type { Address, DatabaseHandle } from './database.ts'
import { isReadOnly } from './faults.ts'
import { forgetful, guardTransactions } from './guard-client.ts'
import type { Outages } from './outages.ts'
import { connect, createPrimary, type Primary } from './primary.ts'

export type PostgresOptions = {
  address: Address
  /** Without a pooler in between, for what a session has to keep: notifications, and the queue. */
  directAddress?: Address | undefined
  maxConnections?: number | undefined
  onNotice?: (message: string) => void
  outages?: { watch: Outages; log: Logger } | undefined
}

const CONNECT_SECONDS = 2
/**
 * Between two attempts to connect. By default it grows to 20 s: statements would wait for so long to fail while the
 * database is away, and to be answered when it is back.
 */
const MAX_BACKOFF_SECONDS = 0.5

/** PostgreSQL 13 or newer, by postgres.js. */
export function openPostgres({
  address,
  directAddress = address,
  maxConnections = 20,
  onNotice,
  outages,
}: PostgresOptions): DatabaseHandle {
  const primary = createPrimary(address)
  const options = {
    connect_timeout: CONNECT_SECONDS,
    backoff: (failures: number) => Math.min(0.05 * 2 ** failures, MAX_BACKOFF_SECONDS),
    onnotice: (notice: { message?: string }) => onNotice?.(String(notice.message)),
    // Nobody waits for the query by which it learns of arrays: a session that ends during it would end the process.
    fetch_types: false,
    types: {
      // Every bigint of the schema stays below 2^53.
      bigint: { to: 20, from: [20], serialize: String, parse: Number },
      // text[] and uuid[], all that there are; Drizzle has written them already.
      array: { to: 1009, from: [1009, 2951], serialize: String, parse: parsePgArray },
    },
    connection: { application_name: 'sluice' },
  }
  const client = connect(address, { ...options, max: maxConnections }, primary)
  const listener = directAddress === address ? client : connect(directAddress, { ...options, max: 1 })
  const watch = outages && endingReadOnly(outages.watch, primary)
  client.unsafe = forgetful(client.unsafe, watch)
  guardTransactions(client, watch)
  if (outages) tellOutages(primary, outages)
  return {
    kind: 'postgres',
    address: directAddress,
    db: drizzle(client, { schema, casing: 'snake_case' }),
    reach: primary.find,
    async listen(channel, onMessage) {
      let lines = 0
      const subscription = await listener.listen(channel, onMessage, () => {
        if (lines++ > 0) onMessage(null)
      })
      return () => subscription.unlisten()
    },
    async close() {
      outages?.watch.close()
      await Promise.all([...new Set([client, listener])].map((one) => one.end({ timeout: 5 })))
    },
  }
}

/** A server that takes no writes is a standby by now: connections to it are of no use, even when there is a primary again. */
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

function tellOutages(primary: Primary, { watch, log }: { watch: Outages; log: Logger }): void {
  watch.watch({
    ask: primary.find,
    onAway: (cause) => log.error({ why: String(cause) }, 'the database does not answer'),
    onBack: (awayMs) => log.warn({ awayMs: Math.round(awayMs) }, 'the database answers again'),
    onCalm: (failures) => log.warn({ failures }, 'the database no longer fails statements'),
  })
}
