import { sql } from 'drizzle-orm'
import type { DatabaseHandle } from '#lib/platform/db/database.ts'
import { migrate } from '#lib/platform/db/migrate.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { createDatabase } from '../../test/support/postgres.ts'
import { makeMonths } from './grow.ts'
import type { PlanNode } from './plan.ts'

/** An executed statement, as PostgreSQL itself reports it. */
export type Ran = { text: string; plan: PlanNode; ms: number }

/** A database that reports how it executed each statement, so that exactly the product's statements are measured. */
export type Explained = DatabaseHandle & {
  /** Returns the statements that the work executed, in the order in which they ended. */
  watch(work: () => Promise<unknown>): Promise<Ran[]>
}

const SETTINGS = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_timing': 'off',
  'auto_explain.log_format': 'json',
  'auto_explain.log_level': 'notice',
  'auto_explain.log_parameter_max_length': '0',
}

/** The server's user must be a superuser. */
export async function openExplained(serverUrl: string): Promise<Explained> {
  const { name, url, drop } = await createDatabase(serverUrl)
  // A migration that runs outside of transactions needs a connection in addition to the one with the lock.
  const plain = openPostgres({ address: url, maxConnections: 2 })
  await migrate(plain.db)
  await makeMonths(plain.db)
  for (const [setting, value] of Object.entries(SETTINGS)) {
    const assignment = `${setting
      .split('.')
      .map((part) => `"${part}"`)
      .join('.')} = '${value}'`
    await plain.db.execute(sql.raw(`alter database ${name} set ${assignment}`))
  }
  await plain.close()
  let ran: Ran[] = []
  const handle = openPostgres({
    address: url,
    maxConnections: 1,
    onNotice: (said) => ran.push(...read(said)),
  })
  return {
    ...handle,
    async watch(work) {
      ran = []
      await work()
      return ran
    },
    async close() {
      await handle.close()
      await drop()
    },
  }
}

function read(notice: string): Ran[] {
  const [, ms, json] = notice.match(/^duration: ([\d.]+) ms {2}plan:\n([\s\S]*)$/) ?? []
  if (json === undefined) return []
  const { 'Query Text': text, Plan: plan } = JSON.parse(json) as { 'Query Text': string; Plan: PlanNode }
  return [{ text: text.replace(/\s+/g, ' ').trim(), plan, ms: Number(ms) }]
}
