import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { findOutput } from './find-output.ts'
import { openSecrets } from './secrets.ts'

/** Shows the current signing secret to its owner. The audit log records that it was shown. */
export async function revealSecret(
  { db, clock, vault }: Pick<Runtime, 'db' | 'clock' | 'vault'>,
  actor: Actor,
  pipeId: string,
): Promise<string> {
  return db.transaction(async (tx) => {
    const { output, pipeName } = await findOutput(tx, actor, pipeId)
    const entry = { action: 'webhook.secret_revealed', subjectId: pipeId, subjectLabel: pipeName }
    await recordAudit({ db: tx, clock }, actor, entry)
    const [secret] = openSecrets(vault, output, clock.now())
    return secret!
  })
}
