import { and, eq, isNull } from 'drizzle-orm'
import { accountKeys } from '#drizzle/schema/index.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { type Actor, recordAudit } from '../audit/record-audit.ts'

/** Every account key of the workspace, each with its line in the audit log. */
export async function revokeAllKeys(runtime: Pick<Runtime, 'db' | 'clock'>, actor: Actor): Promise<void> {
  const revoked = await runtime.db
    .update(accountKeys)
    .set({ revokedAt: new Date(runtime.clock.now()) })
    .where(and(eq(accountKeys.workspaceId, actor.workspaceId), isNull(accountKeys.revokedAt)))
    .returning({ id: accountKeys.id, name: accountKeys.name })
  for (const { id, name } of revoked)
    await recordAudit(runtime, actor, { action: 'account_key.revoked', subjectId: id, subjectLabel: name })
}
