import { sql } from 'drizzle-orm'
import { RANGES, type Range, readFigures } from '#lib/dashboard/overview/read-figures.ts'
import { createAccount } from '#lib/identity/accounts/users.ts'
import type { Actor } from '#lib/identity/audit/record-audit.ts'
import type { Db } from '#lib/platform/db/database.ts'
import { migrate } from '#lib/platform/db/migrate.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { systemClock } from '#lib/platform/kernel/clock.ts'
import { STEPS } from '#lib/workspace/usage/fold-tallies.ts'
import { createDatabase } from '../test/support/postgres.ts'
import type { Finding } from './cases.ts'

/** Measures the Overview's figures for a workspace with ten million files on 100 Pipes, and a thousand open uploads. */
const FILES = 10_000_000
const PIPES = 100
const DAYS = 180
const HOURS = 9 * 24
const QUARTERS = 16 * 4
const ROUNDS = 51
const MAX_MS = 50

export async function benchOverview(postgresUrl: string): Promise<Finding[]> {
  const { url, drop } = await createDatabase(postgresUrl)
  const { db, close } = openPostgres({ address: url })
  try {
    await migrate(db)
    const account = { email: 'bench@example.com', passwordHash: null, emailVerified: true }
    const { workspaceId, userId } = await createAccount({ db, clock: systemClock }, account)
    const actor: Actor = { workspaceId, kind: 'user', id: userId, label: account.email, role: 'owner' }
    await fillCounts(db, workspaceId)
    await fillFiles(db, workspaceId)
    const findings: Finding[] = []
    for (const range of Object.keys(RANGES) as Range[]) {
      for (const pipeId of [undefined, pipeName(7)]) {
        const measuredMs = await medianMs(() =>
          readFigures({ db, clock: systemClock }, actor, { range, pipeId }),
        )
        findings.push({
          what: `Figures for ${range}${pipeId ? ' of one Pipe' : ''}, with ten million files on ${PIPES} Pipes`,
          measured: `${measuredMs} ms`,
          wanted: `≤ ${MAX_MS} ms`,
          holds: measuredMs <= MAX_MS,
        })
      }
    }
    return findings
  } finally {
    await close()
    await drop()
  }
}

const pipeName = (n: number) =>
  `pipe_${String.fromCharCode(97 + (n % 26)).repeat(18)}${String.fromCharCode(97 + Math.floor(n / 26), 97)}`

/** Adds the maximum number of rows, as if every Pipe were busy in every hour. */
async function fillCounts(db: Db, workspaceId: string): Promise<void> {
  const pipes = sql`unnest(${sql.param(`{${Array.from({ length: PIPES }, (_, n) => pipeName(n)).join(',')}}`)}::text[] || ''::text) as pipe`
  for (const [span, length, slots] of [
    ['day', '1 day', DAYS],
    ['quarter', '6 hours', QUARTERS],
    ['hour', '1 hour', HOURS],
  ] as const) {
    await db.execute(sql`
      insert into counts (workspace_id, span, at, pipe_id, transferred, failed, expired, delivered, bytes, durations)
      select ${workspaceId}::uuid, ${span}, date_bin(${length}::interval, now(), 'epoch'::timestamptz) - n * ${length}::interval,
        pipe, 500, 5, 5, 500, 500000000, array(select (n + step) % 40 from generate_series(1, ${STEPS}::int) step)
      from generate_series(0, ${slots}::int - 1) n, ${pipes}`)
  }
  await db.execute(sql`vacuum analyze counts`)
}

async function fillFiles(db: Db, workspaceId: string): Promise<void> {
  await db.execute(sql`
    insert into files (id, workspace_id, pipe_id, sender_name, filename, status, length_bytes, offset_bytes, counted_bytes,
      expiry_seconds, expires_at, last_byte_at)
    select (lpad(to_hex(1767225600000 + n), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid,
      ${workspaceId}::uuid, ${pipeName(7)}, 'Backend', 'film ' || n || '.bin',
      case when n % ${FILES / 1000}::int = 0 then 'uploading' else 'transferred' end, 1000, 1000, 1000, 604800, now(), now()
    from generate_series(1, ${FILES}::int) n`)
  await db.execute(sql`vacuum analyze files`)
}

async function medianMs(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const startedAt = performance.now()
    await work()
    times.push(performance.now() - startedAt)
  }
  return Math.round(times.sort((a, b) => a - b)[ROUNDS >> 1]! * 10) / 10
}
