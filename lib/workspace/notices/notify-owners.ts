import { and, eq, isNotNull, isNull } from 'drizzle-orm'
import { senders } from '#drizzle/schema/index.ts'
import { memberAddresses } from '../../identity/accounts/users.ts'
import type { Db } from '../../platform/db/database.ts'
import { enqueueMail, type Mail } from '../../platform/mail/mail.ts'
import type { MailingRuntime } from '../../platform/runtime.ts'

/**
 * Finds what owners are still to be told, and puts the mails into the queue in the transaction that marks them as
 * told: each is sent once, whichever node looks first. It looks at rows and not at calls, so that the way of the
 * bytes knows nothing of mail.
 */

const BATCH = 50

export async function notifyOwners(runtime: MailingRuntime): Promise<number> {
  return runtime.db.transaction((tx) => lookAtSenders({ ...runtime, db: tx }))
}

async function lookAtSenders(runtime: MailingRuntime): Promise<number> {
  const { db, clock, config } = runtime
  const due = await db
    .select()
    .from(senders)
    // One mail for each exposure would be one for each visitor; after a rotation it counts again.
    .where(and(isNotNull(senders.exposedAt), isNull(senders.exposedNoticedAt)))
    .limit(BATCH)
    .for('update', { skipLocked: true })
  for (const { id, workspaceId, name, exposedOrigin } of due) {
    await tell(runtime, workspaceId, senderExposed({ id, name, origin: exposedOrigin }, config.baseUrl))
    await db
      .update(senders)
      .set({ exposedNoticedAt: new Date(clock.now()) })
      .where(eq(senders.id, id))
  }
  return due.length
}

async function tell(
  runtime: MailingRuntime & { db: Db },
  workspaceId: string,
  text: Omit<Mail, 'to'>,
): Promise<void> {
  for (const to of await memberAddresses(runtime.db, workspaceId)) {
    await enqueueMail(runtime, runtime.db, { kind: 'mail', mail: { to, ...text } })
  }
}

/** What the owner of a workspace is told by mail, without having asked. */
type Text = Omit<Mail, 'to'>

const SIGNATURE = '\n\n--\nSluice\n'

function senderExposed(sender: { id: string; name: string; origin: string | null }, baseUrl: string): Text {
  const where = sender.origin ? ` on ${sender.origin}` : ''
  return {
    subject: `The token of the Sender “${sender.name}” was seen in a browser`,
    text: `The private token of the Sender “${sender.name}” was sent to the upload address, so it is in a browser${where}. Anyone who visits that page can read it and issue upload tokens.\n\nUse a temporary token there, and rotate this one now:\n\n${baseUrl}/dashboard/senders/${sender.id}${SIGNATURE}`,
  }
}
