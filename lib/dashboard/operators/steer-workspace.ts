import { eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { workspaces } from '#drizzle/schema/index.ts'
import { suspensionMail } from '../../identity/accounts/mails.ts'
import { memberAddresses } from '../../identity/accounts/users.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import type { Person } from '../../identity/sessions/read-session.ts'
import { type Db, LIVE_CHANNEL } from '../../platform/db/database.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import { enqueueMail } from '../../platform/mail/mail.ts'
import type { Runtime } from '../../platform/runtime.ts'
import type { Config } from '../../platform/settings/config.ts'

/** An operator: an account that is listed in OPERATORS and has a verified address. */
export type Operator = { userId: string; email: string }

export function operatorOf(
  { operators }: Pick<Config, 'operators'>,
  { userId, email, emailVerified }: Pick<Person, 'userId' | 'email' | 'emailVerified'>,
): Operator | undefined {
  return emailVerified && operators.has(email.toLowerCase()) ? { userId, email } : undefined
}

/**
 * Operators can limit and suspend a workspace. Nodes read both settings on each request, and at each lease renewal for
 * uploads in progress, so they apply within seconds. Every change is recorded in that workspace's audit log.
 */
export const limitsInput = z.strictObject({
  /** Null means the value of FREE_TIER_BYTES, 0 means unlimited. */
  transferLimitBytes: z
    .int()
    .min(0)
    .max(2 ** 52)
    .nullable(),
  tokensPerSecond: z.int().min(1, 'must be at least 1').max(10_000, 'must be at most 10000').nullable(),
  /** The share of each process's upload memory; null for whatever other workspaces leave. */
  memorySharePercent: z
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(100, 'must be at most 100')
    .nullable(),
  maxFileBytes: z
    .int()
    .min(1, 'must be at least 1')
    .max(2 ** 46)
    .nullable(),
})

export const suspensionInput = z.strictObject({
  /** Sent to the members. */
  reason: z.string().trim().min(1, 'must not be empty').max(500, 'must have at most 500 characters'),
})

type SteeringRuntime = Pick<Runtime, 'db' | 'clock' | 'queue' | 'vault'>

export async function limitWorkspace(
  runtime: SteeringRuntime,
  operator: Operator,
  id: string,
  limits: z.output<typeof limitsInput>,
): Promise<void> {
  await steer(runtime, operator, id, async (inTx, { actor }) => {
    await inTx.db.update(workspaces).set(limits).where(eq(workspaces.id, id))
    await recordAudit(inTx, actor, { action: 'workspace.limit_changed', detail: limits })
  })
}

export async function suspendWorkspace(
  runtime: SteeringRuntime,
  operator: Operator,
  id: string,
  { reason }: z.output<typeof suspensionInput>,
): Promise<void> {
  await steer(runtime, operator, id, async (inTx, { actor, name }) => {
    const suspendedAt = new Date(inTx.clock.now())
    await inTx.db
      .update(workspaces)
      .set({ suspendedAt, suspendedReason: reason })
      .where(eq(workspaces.id, id))
    await recordAudit(inTx, actor, { action: 'workspace.suspended', detail: { reason } })
    await tellMembers(inTx, id, { workspace: name, reason })
  })
}

export async function liftSuspension(
  runtime: SteeringRuntime,
  operator: Operator,
  id: string,
): Promise<void> {
  await steer(runtime, operator, id, async (inTx, { actor, name }) => {
    await inTx.db
      .update(workspaces)
      .set({ suspendedAt: null, suspendedReason: null })
      .where(eq(workspaces.id, id))
    await recordAudit(inTx, actor, { action: 'workspace.suspension_lifted' })
    await tellMembers(inTx, id, { workspace: name, reason: null })
  })
}

type InTx = SteeringRuntime & { db: Db }

async function steer(
  runtime: SteeringRuntime,
  { userId, email }: Operator,
  id: string,
  work: (inTx: InTx, at: { actor: Actor; name: string }) => Promise<void>,
): Promise<void> {
  await runtime.db.transaction(async (tx) => {
    const [found] = isUuid(id)
      ? await tx.select({ name: workspaces.name }).from(workspaces).where(eq(workspaces.id, id)).for('update')
      : []
    if (!found) throw new SluiceError('not_found', 'There is no such workspace.')
    const actor: Actor = { workspaceId: id, kind: 'operator', id: userId, label: email, role: 'viewer' }
    await work({ ...runtime, db: tx }, { actor, name: found.name })
    await tx.execute(sql`select pg_notify(${LIVE_CHANNEL}, ${id})`)
  })
}

async function tellMembers(
  inTx: InTx,
  workspaceId: string,
  what: { workspace: string; reason: string | null },
) {
  for (const to of await memberAddresses(inTx.db, workspaceId))
    await enqueueMail(inTx, inTx.db, { kind: 'mail', mail: { ...suspensionMail(to, what), workspaceId } })
}
