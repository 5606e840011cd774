import { z } from 'zod'
import type { webhookOutputs } from '#drizzle/schema/index.ts'

/** The statuses that a file can end with. */
const statusField = z.enum(['transferred', 'failed', 'expired', 'canceled'], {
  message: 'must be transferred, failed, expired or canceled',
})

export const webhookOutputInput = z.strictObject({
  enabled: z.boolean().default(true),
  url: z.string().trim().max(2048, 'must have at most 2048 characters'),
  statuses: z
    .array(statusField)
    .default([])
    // `transferred` is always sent.
    .transform((statuses) => [...new Set(['transferred' as const, ...statuses])]),
})
export type WebhookOutputInput = z.output<typeof webhookOutputInput>

const instantAnswer = z.iso.datetime().nullable()

export const webhookOutputAnswer = z.strictObject({
  enabled: z.boolean(),
  url: z.string(),
  statuses: z.array(z.string()),
  /** Set if Sluice has turned the output off: the reason. */
  turnedOffReason: z.string().nullable(),
  turnedOffAt: instantAnswer,
  /** All attempts since this time have failed. */
  failingSince: instantAnswer,
  /** Until this time, webhooks are also signed with the secret from before the last rotation. */
  previousSecretUntil: instantAnswer,
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
})
export type WebhookOutput = z.output<typeof webhookOutputAnswer>

export function toWebhookOutput(row: typeof webhookOutputs.$inferSelect): WebhookOutput {
  return {
    enabled: row.enabled,
    url: row.url,
    statuses: row.statuses,
    turnedOffReason: row.turnedOffReason,
    turnedOffAt: row.turnedOffAt?.toISOString() ?? null,
    failingSince: row.failingSince?.toISOString() ?? null,
    previousSecretUntil: row.previousSecretUntil?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  }
}
