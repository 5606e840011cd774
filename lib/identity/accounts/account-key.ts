import { z } from 'zod'
import type { accountKeys } from '#drizzle/schema/index.ts'
import { nameField } from '../../platform/kernel/fields.ts'

export const accountKeyInput = z.strictObject({ name: nameField })

export const accountKeyAnswer = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  last4: z.string(),
  lastUsedAt: z.iso.datetime().nullable(),
  revokedAt: z.iso.datetime().nullable(),
  createdAt: z.iso.datetime(),
})
export type AccountKey = z.output<typeof accountKeyAnswer>

export function toAccountKey(row: typeof accountKeys.$inferSelect): AccountKey {
  return {
    id: row.id,
    name: row.name,
    last4: row.last4,
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
    revokedAt: row.revokedAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
  }
}
