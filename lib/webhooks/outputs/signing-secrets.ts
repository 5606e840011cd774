import { eq } from 'drizzle-orm'
import { webhookOutputs } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import { hours } from '../../platform/kernel/clock.ts'
import { newWebhookSecret } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { type Place, sealsForColumns, type Vault } from '../../platform/vault.ts'
import { findOutput, type OutputRef } from './find-output.ts'
import { toWebhookOutput, type WebhookOutput } from './webhook-output.ts'

/** The encrypted signing secrets in an output's or hook's row. */
export type SealedSecrets = {
  id: string
  secretEncrypted: string
  previousSecretEncrypted: string | null
  previousSecretUntil: Date | null
}

/** The columns that a row's two secrets are bound to. */
type SecretPlaces = { current(id: string): Place; previous(id: string): Place }

/** The current secret, and after a rotation also the previous one until it expires. */
export function openSecrets(
  vault: Vault,
  sealed: SealedSecrets,
  nowMs: number,
  places: SecretPlaces = { current: secretPlace, previous: previousSecretPlace },
): string[] {
  const { id, secretEncrypted, previousSecretEncrypted, previousSecretUntil } = sealed
  const secrets = [vault.open(secretEncrypted, places.current(id))]
  if (previousSecretEncrypted && previousSecretUntil && previousSecretUntil.getTime() > nowMs) {
    secrets.push(vault.open(previousSecretEncrypted, places.previous(id)))
  }
  return secrets
}

/** The columns that an output's two sealed secrets are bound to. */
const placeIn =
  (column: string) =>
  (id: string): Place => ({ column: `webhook_outputs.${column}`, id, row: `webhook_output:${id}` })
export const secretPlace = placeIn('secret_encrypted')
export const previousSecretPlace = placeIn('previous_secret_encrypted')

const OVERLAP_MS = hours(24)

/** Creates a new secret. For a day, webhooks are also signed with the previous one, so that receivers can switch. */
export async function rotateSecret(
  { db, clock, vault }: Pick<Runtime, 'db' | 'clock' | 'vault'>,
  actor: Actor,
  ref: OutputRef,
): Promise<WebhookOutput & { secret: string }> {
  const secret = newWebhookSecret()
  return db.transaction(async (tx) => {
    // This acquires a lock, which must happen before the row is locked: rotate-keys locks in the same order.
    const seal = await sealsForColumns(tx, vault)
    const { output, subject } = await findOutput(tx, actor, ref, 'update')
    const before = vault.open(output.secretEncrypted, secretPlace(output.id))
    const [row] = await tx
      .update(webhookOutputs)
      .set({
        secretEncrypted: seal(secret, secretPlace(output.id)),
        previousSecretEncrypted: seal(before, previousSecretPlace(output.id)),
        previousSecretUntil: new Date(clock.now() + OVERLAP_MS),
        updatedAt: new Date(clock.now()),
      })
      .where(eq(webhookOutputs.id, output.id))
      .returning()
    await recordAudit({ db: tx, clock }, actor, { action: 'webhook.secret_rotated', ...subject })
    return { ...toWebhookOutput(row!), secret }
  })
}

/** Shows the current signing secret to its owner. The audit log records that it was shown. */
export async function revealSecret(
  { db, clock, vault }: Pick<Runtime, 'db' | 'clock' | 'vault'>,
  actor: Actor,
  ref: OutputRef,
): Promise<string> {
  return db.transaction(async (tx) => {
    const { output, subject } = await findOutput(tx, actor, ref)
    await recordAudit({ db: tx, clock }, actor, { action: 'webhook.secret_revealed', ...subject })
    const [secret] = openSecrets(vault, output, clock.now())
    return secret!
  })
}
