import { eq } from 'drizzle-orm'
import { webhookOutputs } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import { invalidRequest, isSluiceError } from '../../platform/kernel/errors.ts'
import { newWebhookSecret, uuidv7 } from '../../platform/kernel/ids.ts'
import { assertAllowedUrl } from '../../platform/net/judge-connection.ts'
import type { Runtime } from '../../platform/runtime.ts'
import type { Config } from '../../platform/settings/config.ts'
import { sealsForColumns } from '../../platform/vault.ts'
import { findPipe } from '../../workspace/pipes/read-pipes.ts'
import { secretPlace } from './signing-secrets.ts'
import { toWebhookOutput, type WebhookOutput, type WebhookOutputInput } from './webhook-output.ts'

type Needs = Pick<Runtime, 'db' | 'clock' | 'config' | 'vault'>
type Saved = WebhookOutput & { secret?: string }

/** Creates a Pipe's webhook output and returns its secret, or changes the existing output. */
export async function saveOutput(
  { db, clock, config, vault }: Needs,
  actor: Actor,
  pipeId: string,
  input: WebhookOutputInput,
): Promise<Saved> {
  assertUrl(input.url, config)
  const now = new Date(clock.now())
  return db.transaction(async (tx) => {
    // With the lock, the second of two concurrent first calls finds the output that the first has created.
    const { pipe } = await findPipe(tx, actor, pipeId, 'update')
    const [before] = await tx.select().from(webhookOutputs).where(eq(webhookOutputs.pipeId, pipeId))
    const audit = (action: string) => {
      const entry = {
        action,
        subjectId: pipeId,
        subjectLabel: pipe.name,
        detail: { url: input.url, enabled: input.enabled },
      }
      return recordAudit({ db: tx, clock }, actor, entry)
    }
    if (!before) {
      const [id, secret] = [uuidv7(now.getTime()), newWebhookSecret()]
      const seal = await sealsForColumns(tx, vault)
      const secretEncrypted = seal(secret, secretPlace(id))
      const { workspaceId } = actor
      const row = { id, workspaceId, pipeId, ...input, secretEncrypted, createdAt: now, updatedAt: now }
      const [created] = await tx.insert(webhookOutputs).values(row).returning()
      await audit('webhook.created')
      return { ...toWebhookOutput(created!), secret }
    }
    // Changing the address or turning the output on clears its record of failures.
    const anew = input.url !== before.url || (input.enabled && !before.enabled)
    const [changed] = await tx
      .update(webhookOutputs)
      .set({
        ...input,
        updatedAt: now,
        ...(anew && { failingSince: null, turnedOffReason: null, turnedOffAt: null }),
      })
      .where(eq(webhookOutputs.id, before.id))
      .returning()
    await audit('webhook.changed')
    return toWebhookOutput(changed!)
  })
}

function assertUrl(url: string, config: Runtime['config']): void {
  try {
    assertAllowedUrl(url, webhookHosts(config))
  } catch (error) {
    if (!isSluiceError(error)) throw error
    throw invalidRequest([{ field: 'url', message: `is not allowed: ${error.message}` }])
  }
}

/** Private hosts to which webhooks may be sent: those that the operator allows, and Sluice itself, for the inbox. */
export function webhookHosts({
  allowedPrivateHosts,
  baseUrl,
}: Pick<Config, 'allowedPrivateHosts' | 'baseUrl'>): string[] {
  const { hostname, port, protocol } = new URL(baseUrl)
  return [...allowedPrivateHosts, `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`]
}
