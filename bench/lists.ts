import { sql } from 'drizzle-orm'
import { createAccount } from '#lib/accounts/create-account.ts'
import type { Actor } from '#lib/audit/record-audit.ts'
import type { Db } from '#lib/db/database.ts'
import { migrate } from '#lib/db/migrate.ts'
import { openPostgres } from '#lib/db/open-postgres.ts'
import { type FileQuery, fileQuery, listFiles } from '#lib/files/list-files.ts'
import { systemClock } from '#lib/kernel/clock.ts'
import { parseInput } from '#lib/kernel/parse-input.ts'
import { createDatabase } from '../e2e/parts/postgres.ts'
import type { Finding } from './cases.ts'

/** Pages of a list of a million files, the first and one deep inside, by every filter that there is. */
const FILES = 1_000_000
const ROUNDS = 50
const PIPE = 'pipe_aaaaaaaaaaaaaaaaaaaa'
const SENDER = '019a0000-0000-7000-8000-00000000000a'

const QUERIES: Record<string, Record<string, unknown>> = {
  all: {},
  'by status': { status: 'transferred' },
  'by a rare status': { status: 'failed' },
  'by Pipe': { pipeId: PIPE },
  'by Pipe and status': { pipeId: PIPE, status: 'failed' },
  'by Sender': { senderId: SENDER },
  'by Sender and status': { senderId: SENDER, status: 'failed' },
  'by name': { filename: 'photo' },
  'by a name that none has': { filename: 'nothing has it' },
  'by time': { createdBefore: '2026-01-03T00:00:00Z' },
}

const MAX_MS = 20

export async function benchLists(postgresUrl: string): Promise<Finding[]> {
  const { url, drop } = await createDatabase(postgresUrl)
  const { db, close } = openPostgres({ url })
  try {
    await migrate(db)
    const actor = await fill(db)
    const cursor = await deepCursor(db, actor)
    const findings: Finding[] = []
    for (const [name, fields] of Object.entries(QUERIES)) {
      const query = parseInput(fileQuery, fields)
      const firstMs = await medianMs(db, actor, query)
      const deepMs = await medianMs(db, actor, { ...query, cursor })
      findings.push({
        what: `A page of a million files, ${name}`,
        measured: `${firstMs} ms, in the middle of the list ${deepMs} ms`,
        wanted: `≤ ${MAX_MS} ms`,
        holds: Math.max(firstMs, deepMs) <= MAX_MS,
      })
    }
    return findings
  } finally {
    await close()
    await drop()
  }
}

/** Another workspace has as many, so that an index without the workspace shows. */
async function fill(db: Db): Promise<Actor> {
  const runtime = { db, clock: systemClock }
  const account = { email: 'bench@example.com', passwordHash: null, emailVerified: true }
  const { workspaceId, userId } = await createAccount(runtime, account)
  const other = await createAccount(runtime, { ...account, email: 'other@example.com' })
  for (const owner of [workspaceId, other.workspaceId]) {
    await db.execute(sql`
      insert into files (id, workspace_id, pipe_id, sender_id, sender_name, filename, status, length_bytes,
        offset_bytes, expiry_seconds, expires_at, created_at)
      select (lpad(to_hex(1767225600000 + n), 12, '0') || '7' || substr(md5(n::text || ${owner}), 1, 3) || '8'
          || substr(md5(${owner} || n::text), 1, 15))::uuid,
        ${owner}::uuid, case when n % 10 = 0 then ${PIPE} else 'pipe_bbbbbbbbbbbbbbbbbbbb' end, ${SENDER}::uuid, 'Backend',
        case when n % 3 = 0 then 'photo ' else 'film ' end || n || '.bin',
        case when n % 1000 = 0 then 'failed' else 'transferred' end, 1000, 1000, 604800, now(), now()
      from generate_series(1, ${FILES}::int) n`)
  }
  await db.execute(sql`analyze files`)
  return { workspaceId, kind: 'user', id: userId, label: account.email }
}

async function deepCursor(db: Db, actor: Actor): Promise<string> {
  const found = await db.query.files.findFirst({
    columns: { id: true },
    where: (file, { eq }) => eq(file.workspaceId, actor.workspaceId),
    orderBy: (file, { desc }) => desc(file.id),
    offset: FILES / 2,
  })
  return Buffer.from(found!.id).toString('base64url')
}

async function medianMs(db: Db, actor: Actor, query: FileQuery): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const startedAt = performance.now()
    await listFiles({ db }, actor, query)
    times.push(performance.now() - startedAt)
  }
  return Math.round(times.sort((a, b) => a - b)[ROUNDS / 2]! * 10) / 10
}
