import { sql } from 'drizzle-orm'
import { describeSize } from '#packages/react/src/words.ts'
import { SIGNATURE } from '../identity/accounts/mails.ts'
import { reachableAddresses } from '../identity/accounts/users.ts'
import { type Db, rows } from '../platform/db/database.ts'
import { minutes } from '../platform/kernel/clock.ts'
import { isSluiceError } from '../platform/kernel/errors.ts'
import { enqueueMail, type Mail } from '../platform/mail/mail.ts'
import { takeFromLimit } from '../platform/rate-limits.ts'
import type { MailingRuntime } from '../platform/runtime.ts'
import { isInBatch } from './batch.ts'

/**
 * Emails about completed batches of upload links. They contain no words of the uploaders, who may be strangers, and a
 * visitor who uploads files one by one cannot flood the recipient.
 */
const PER_LINK = { burst: 20, refillMs: minutes(10) }

type Arrival = {
  batchId: string
  workspaceId: string
  linkId: string
  pipeId: string
  title: string
  to: string
  arrived: number
  bytes: number
  incomplete: number
  failed: number
  expired: number
  canceled: number
}

/** Sends nothing if the recipient is no longer a member, or if the visitor canceled every upload. */
export async function mailArrivals(
  inTx: MailingRuntime & { db: Db },
  completed: readonly { id: string }[],
): Promise<void> {
  if (completed.length === 0) return
  for (const arrival of await arrivalsIn(inTx.db, completed)) {
    const { workspaceId, to } = arrival
    if (!(await reachableAddresses(inTx, workspaceId)).includes(to)) continue
    if (!(await mayMail(inTx, arrival))) continue
    const mail = { ...arrivalMail(arrival, inTx.config.baseUrl), workspaceId }
    await enqueueMail(inTx, inTx.db, { kind: 'mail', mail })
  }
}

function arrivalsIn(tx: Db, completed: readonly { id: string }[]): Promise<Arrival[]> {
  const ids = sql.join(
    completed.map(({ id }) => sql`${id}::uuid`),
    sql`, `,
  )
  const count = (status: string) => sql`(count(*) filter (where f.status = ${status}))::int`
  const isHere = sql`f.status in ('transferred', 'partially_transferred')`
  return rows<Arrival>(
    tx,
    sql`select b.id as "batchId", l.workspace_id as "workspaceId", l.id as "linkId", l.pipe_id as "pipeId", l.title,
        l.notify_email as "to", (count(*) filter (where ${isHere}))::int as arrived,
        coalesce(sum(f.length_bytes) filter (where ${isHere}), 0)::float8 as bytes,
        ${count('partially_transferred')} as incomplete, ${count('failed')} as failed,
        ${count('expired')} as expired, ${count('canceled')} as canceled
      from batches b join upload_links l on l.sender_id = b.sender_id join files f on ${isInBatch(sql`b.id`)}
      where b.id in (${ids}) and l.notify_email is not null and l.deleted_at is null
      group by b.id, l.id having bool_or(f.status <> 'canceled') order by b.id`,
  )
}

async function mayMail(inTx: MailingRuntime, { linkId }: Arrival): Promise<boolean> {
  try {
    await takeFromLimit(inTx, `link-mail:${linkId}`, PER_LINK)
    return true
  } catch (error) {
    if (isSluiceError(error) && error.code === 'rate_limited') return false
    throw error
  }
}

const files = (count: number) => (count === 1 ? '1 file' : `${count} files`)

function arrivalMail(arrival: Arrival, baseUrl: string): Mail {
  const { batchId, pipeId, title, to, arrived, bytes, incomplete, failed, expired, canceled } = arrival
  const lost = Object.entries({ failed, expired, canceled }).filter(([, count]) => count > 0)
  const missing = failed + expired + canceled
  const paragraphs = [
    arrived > 0
      ? `Through the upload link “${title}”, ${files(arrived)} arrived (${describeSize(bytes, 'en')}).`
      : `Files were sent through the upload link “${title}”, but none arrived.`,
    incomplete > 0 && `Not yet at all destinations: ${files(incomplete)}.`,
    missing > 0 &&
      `Did not arrive: ${files(missing)} (${lost.map(([how, count]) => `${count} ${how}`).join(', ')}).`,
    `${baseUrl}/dashboard/files?batchId=${batchId}`,
    `To stop these emails, edit the link: ${baseUrl}/dashboard/pipes/${pipeId}/links`,
  ]
  const subject = arrived > 0 ? `“${title}”: ${files(arrived)} arrived` : `“${title}”: no files arrived`
  return { to, subject, text: paragraphs.filter(Boolean).join('\n\n') + SIGNATURE }
}
