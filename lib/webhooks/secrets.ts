import type { Vault } from '../vault.ts'

/** The signing secrets of an output as its row holds them. */
export type SealedSecrets = {
  id: string
  secretEncrypted: string
  previousSecretEncrypted: string | null
  previousSecretUntil: Date | null
}

/** The current one first; the one before it as long as the overlap of a rotation lasts. */
export function openSecrets(vault: Vault, output: SealedSecrets, nowMs: number): string[] {
  const { id, secretEncrypted, previousSecretEncrypted, previousSecretUntil } = output
  const secrets = [vault.open(secretEncrypted, secretContext(id))]
  if (previousSecretEncrypted && previousSecretUntil && previousSecretUntil.getTime() > nowMs) {
    secrets.push(vault.open(previousSecretEncrypted, secretContext(id)))
  }
  return secrets
}

export function secretContext(outputId: string): string {
  return `webhook_output:${outputId}`
}
