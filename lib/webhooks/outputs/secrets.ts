import type { Place, Vault } from '../../platform/vault/vault.ts'

/** The encrypted signing secrets of an output, as in its row. */
export type SealedSecrets = {
  id: string
  secretEncrypted: string
  previousSecretEncrypted: string | null
  previousSecretUntil: Date | null
}

/** The current secret, and after a rotation also the previous one until it expires. */
export function openSecrets(vault: Vault, output: SealedSecrets, nowMs: number): string[] {
  const { id, secretEncrypted, previousSecretEncrypted, previousSecretUntil } = output
  const secrets = [vault.open(secretEncrypted, secretPlace(id))]
  if (previousSecretEncrypted && previousSecretUntil && previousSecretUntil.getTime() > nowMs) {
    secrets.push(vault.open(previousSecretEncrypted, previousSecretPlace(id)))
  }
  return secrets
}

/** The places to which the two sealed secrets of an output are bound. */
const placeIn =
  (column: string) =>
  (id: string): Place => ({ column: `webhook_outputs.${column}`, id, row: `webhook_output:${id}` })
export const secretPlace = placeIn('secret_encrypted')
export const previousSecretPlace = placeIn('previous_secret_encrypted')
