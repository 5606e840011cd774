import { senders } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import { takeCreation } from '../../identity/take-creation.ts'
import { hashSecret, newSecret, uuidv7 } from '../../platform/kernel/ids.ts'
import type { CoreRuntime } from '../../platform/runtime.ts'
import { type Sender, type SenderInput, toSender } from './sender.ts'

/** Only this response contains the token. */
export async function createSender(
  { db, clock }: CoreRuntime,
  actor: Actor,
  { name }: SenderInput,
): Promise<Sender & { token: string }> {
  const token = newSecret('sk_')
  return db.transaction(async (tx) => {
    await takeCreation({ db: tx, clock }, actor, 'Senders')
    const [row] = await tx
      .insert(senders)
      .values({
        id: uuidv7(clock.now()),
        workspaceId: actor.workspaceId,
        name,
        tokenHash: hashSecret(token),
        tokenLast4: token.slice(-4),
        createdAt: new Date(clock.now()),
      })
      .returning()
    const entry = { action: 'sender.created', subjectId: row!.id, subjectLabel: name }
    await recordAudit({ db: tx, clock }, actor, entry)
    return { ...toSender(row!, null, clock.now()), token }
  })
}
