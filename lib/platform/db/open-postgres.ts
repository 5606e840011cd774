import { parsePgArray } from 'drizzle-orm/pg-core'
import { drizzle } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'
import * as schema from '#drizzle/schema/index.ts'
import type { Logger } from '../log/log.ts'
import type { Address, DatabaseHandle } from './database.ts'
import { forgetful, guardTransactions } from './guard-client.ts'
import type { Outages } from './outages.ts'

export type PostgresOptions = {
  address: Address
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
  maxConnections = 20,
  onNotice,
  outages,
}: PostgresOptions): DatabaseHandle {
  const client = connect(address, {
    max: maxConnections,
    connect_timeout: CONNECT_SECONDS,
    backoff: (failures: number) => Math.min(0.05 * 2 ** failures, MAX_BACKOFF_SECONDS),
    onnotice: (notice) => onNotice?.(String(notice.message)),
    // Nobody waits for the query by which it learns of arrays: a session that ends during it would end the process.
    fetch_types: false,
    types: {
      // Every bigint of the schema stays below 2^53.
      bigint: { to: 20, from: [20], serialize: String, parse: Number },
      // text[] and uuid[], all that there are; Drizzle has written them already.
      array: { to: 1009, from: [1009, 2951], serialize: String, parse: parsePgArray },
    },
    connection: { application_name: 'sluice' },
  })
  client.unsafe = forgetful(client.unsafe, outages?.watch)
  guardTransactions(client, outages?.watch)
  if (outages) tellOutages(address, outages)
  return {
    kind: 'postgres',
    address,
    db: drizzle(client, { schema, casing: 'snake_case' }),
    async listen(channel, onMessage) {
      let lines = 0
      const subscription = await client.listen(channel, onMessage, () => {
        if (lines++ > 0) onMessage(null)
      })
      return () => subscription.unlisten()
    },
    close() {
      outages?.watch.close()
      return client.end({ timeout: 5 })
    },
  }
}

function tellOutages(address: Address, { watch, log }: { watch: Outages; log: Logger }): void {
  watch.watch({
    async ask() {
      const one = connect(address, {
        max: 1,
        connect_timeout: 1,
        fetch_types: false,
        onnotice: () => {},
        connection: { application_name: 'sluice-ask' },
      })
      await one.unsafe('select 1').finally(() => void one.end({ timeout: 0 }))
    },
    onAway: (cause) => log.error({ why: String(cause) }, 'the database does not answer'),
    onBack: (awayMs) => log.warn({ awayMs: Math.round(awayMs) }, 'the database answers again'),
  })
}

type Options = Exclude<Parameters<typeof postgres>[1], undefined>

export function connect<Given extends Options>(address: Address, options: Given) {
  return typeof address === 'string' ? postgres(address, options) : postgres({ ...address, ...options })
}
