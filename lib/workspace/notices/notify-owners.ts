import { and, eq, gte, isNotNull, isNull, or } from 'drizzle-orm'
import { senders, usageMonths } from '#drizzle/schema/index.ts'
import { memberAddresses } from '../../identity/accounts/member-addresses.ts'
import type { Db } from '../../platform/db/database.ts'
import { enqueueMail, type Mail } from '../../platform/mail/mail.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { monthOf } from '../usage/count-bytes.ts'
import { quotaReached, senderExposed } from './notice.ts'

/**
 * Finds what owners are still to be told, and puts the mails into the queue in the transaction that marks them as
 * told: each is sent once, whichever node looks first. It looks at rows and not at calls, so that the way of the
 * bytes knows nothing of mail.
 */
type Needs = Pick<Runtime, 'db' | 'clock' | 'config' | 'queue' | 'vault'>

const BATCH = 50

export async function notifyOwners(runtime: Needs): Promise<number> {
  let told = 0
  for (const look of [lookAtSenders, lookAtQuota]) {
    told += await runtime.db.transaction((tx) => look({ ...runtime, db: tx }))
  }
  return told
}

async function lookAtSenders(runtime: Needs): Promise<number> {
  const { db, clock, config } = runtime
  const due = await db
    .select()
    .from(senders)
    // One mail for each exposure would be one for each visitor; after a rotation it counts anew.
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

async function lookAtQuota(runtime: Needs): Promise<number> {
  const { db, clock, config } = runtime
  if (config.freeTierBytes === 0) return 0
  const at = (share: number) => Math.ceil(config.freeTierBytes * share)
  const month = monthOf(clock.now())
  const due = await db
    .select()
    .from(usageMonths)
    .where(
      and(
        eq(usageMonths.month, month),
        or(
          and(gte(usageMonths.usedBytes, at(0.8)), isNull(usageMonths.noticed80At)),
          and(gte(usageMonths.usedBytes, at(1)), isNull(usageMonths.noticed100At)),
        ),
      ),
    )
    .limit(BATCH)
    .for('update', { skipLocked: true })
  for (const { workspaceId, usedBytes } of due) {
    const full = usedBytes >= at(1)
    await tell(runtime, workspaceId, quotaReached({ percent: full ? 100 : 80, month }, config.baseUrl))
    const now = new Date(clock.now())
    await db
      .update(usageMonths)
      .set({ noticed80At: now, ...(full && { noticed100At: now }) })
      .where(and(eq(usageMonths.workspaceId, workspaceId), eq(usageMonths.month, month)))
  }
  return due.length
}

async function tell(runtime: Needs & { db: Db }, workspaceId: string, text: Omit<Mail, 'to'>): Promise<void> {
  for (const to of await memberAddresses(runtime.db, workspaceId)) {
    await enqueueMail(runtime, runtime.db, { kind: 'mail', mail: { to, ...text } })
  }
}
