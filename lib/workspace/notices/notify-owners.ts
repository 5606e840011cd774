import { and, eq, isNotNull, isNull } from 'drizzle-orm'
import { senders } from '#drizzle/schema/index.ts'
import { memberAddresses } from '../../identity/accounts/users.ts'
import type { Db } from '../../platform/db/database.ts'
import { enqueueMail, type Mail } from '../../platform/mail/mail.ts'
import type { MailingRuntime } from '../../platform/runtime.ts'

/**
 * Finds notifications that owners have not received yet, and queues the emails in the transaction that marks them as
 * sent: each is sent once, no matter which node runs first. It polls rows instead of being called, so that the upload
 * path does not depend on email.
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
    // Only the first time: otherwise, every visitor would cause an email. Rotating the token resets this.
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

/** An email that the workspace's owner has not requested. */
type Text = Omit<Mail, 'to'>

const SIGNATURE = '\n\n--\nSluice\n'

function senderExposed(sender: { id: string; name: string; origin: string | null }, baseUrl: string): Text {
  const where = sender.origin ? ` on ${sender.origin}` : ''
  return {
    subject: `The token of the Sender “${sender.name}” was seen in a browser`,
    text: `The private token of the Sender “${sender.name}” was sent to the upload address, so it is in a browser${where}. Anyone who visits that page can read it and issue upload tokens.\n\nUse a temporary token there, and rotate this one now:\n\n${baseUrl}/dashboard/senders/${sender.id}${SIGNATURE}`,
  }
}
