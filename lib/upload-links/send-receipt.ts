import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { countIn, describeSize, fill } from '#packages/react/src/words.ts'
import { emailField } from '../identity/accounts/users.ts'
import { rows } from '../platform/db/database.ts'
import { minutes, seconds } from '../platform/kernel/clock.ts'
import { SluiceError } from '../platform/kernel/errors.ts'
import { hashSecret } from '../platform/kernel/ids.ts'
import { enqueueMail, type Mail, withoutLinks } from '../platform/mail/mail.ts'
import { takeForAddress, takeFromLimit } from '../platform/rate-limits.ts'
import type { MailingRuntime } from '../platform/runtime.ts'
import { batchId } from '../uploads/rules/batch.ts'
import { batchField } from '../workspace/tokens/token.ts'
import { readLinkPages } from './link-pages.ts'
import { textsIn } from './link-texts.ts'
import { linkOf, openLinkInput, subjectOf } from './open-link.ts'

/**
 * A receipt is an email to a visitor that lists their files. The address is not stored. Whoever has the link could enter
 * anyone's address, so a receipt only lists files that have arrived, contains nothing that a mail client would make a
 * link of, and is limited per network, link and address.
 */
const { code, visitor } = openLinkInput.shape
export const receiptInput = z.strictObject({
  code,
  visitor,
  email: emailField,
  /** The language of the receipt, such as `de-AT`. */
  language: z.string().max(100),
  /** The names of the visitor's batches whose files it lists. */
  batches: z.array(batchField).min(1).max(100),
})

const PER_NETWORK = { burst: 10, refillMs: minutes(1) }
const PER_LINK = { burst: 100, refillMs: seconds(30) }
const PER_MAILBOX = { burst: 3, refillMs: minutes(10) }

/** The maximum number of files that are listed, and of characters in each name. */
const MAX_LISTED = 50
const MAX_NAME = 80

export async function sendReceipt(
  runtime: MailingRuntime,
  { code, visitor, email, language, batches }: z.output<typeof receiptInput>,
  address: string,
): Promise<void> {
  const link = await linkOf(runtime, code, address)
  if (!link.receipts) throw new SluiceError('forbidden', 'This upload link sends no receipts.')
  await takeForAddress(runtime, 'receipt', address, PER_NETWORK)
  const { pipeId, senderId, workspaceId, title } = link
  const subject = subjectOf(visitor)
  const ids = batches.map((name) => batchId({ pipeId, senderId, subject, name, byToken: false }))
  const { total, bytes, files } = await arrivedIn(runtime, ids)
  if (total === 0) throw new SluiceError('not_found', 'None of these files has arrived yet.')
  await takeFromLimit(runtime, `receipt:link:${link.id}`, PER_LINK)
  await takeFromLimit(runtime, `receipt:mailbox:${hashSecret(email.toLowerCase())}`, PER_MAILBOX)
  const { name: host } = await readLinkPages(runtime, workspaceId)
  const mail = receiptMail({ to: email, title, host, language, total, bytes, files })
  await enqueueMail(runtime, runtime.db, { kind: 'mail', mail: { ...mail, workspaceId } })
}

type Arrived = { total: number; bytes: number; files: { name: string; bytes: number }[] }

async function arrivedIn({ db }: Pick<MailingRuntime, 'db'>, batchIds: string[]): Promise<Arrived> {
  const ids = sql.join(
    batchIds.map((id) => sql`${id}::uuid`),
    sql`, `,
  )
  const found = await rows<Arrived>(
    db,
    sql`with arrived as (select id, filename, length_bytes from files where batch_id in (${ids})
        and status in ('transferred', 'partially_transferred') and erased_at is null),
      listed as (select * from arrived order by id limit ${MAX_LISTED})
      select count(*)::int as total, coalesce(sum(length_bytes), 0)::float8 as bytes,
        (select coalesce(json_agg(json_build_object('name', filename, 'bytes', length_bytes) order by id), '[]')
          from listed) as files
      from arrived`,
  )
  return found[0]!
}

type Receipt = Arrived & { to: string; title: string; host: string | null; language: string }

function receiptMail({ to, title, host, language, total, bytes, files }: Receipt): Mail {
  const { words, linkPage } = textsIn([language])
  const { lang } = words
  const { subject, arrived, notYou } = linkPage.receipt
  const size = (bytes: number) => describeSize(bytes, lang)
  const about = { title: withoutLinks(title), size: size(bytes) }
  const more = total - files.length
  const listed = files.map((file) => `- ${plainName(file.name)} (${size(file.bytes)})`)
  if (more > 0) listed.push(`- ${countIn(words.saidMore, more, lang)}`)
  const paragraphs = [fill(countIn(arrived, total, lang), about), listed.join('\n'), notYou]
  const text = `${paragraphs.join('\n\n')}\n\n--\n${host === null ? 'Sluice' : withoutLinks(host)}\n`
  return { to, subject: fill(subject, about), text }
}

function plainName(name: string): string {
  const characters = [...withoutLinks(name)]
  if (characters.length <= MAX_NAME) return characters.join('')
  return `${characters.slice(0, MAX_NAME - 1).join('')}…`
}
