import { z } from 'zod'
import type { senders } from '#drizzle/schema/index.ts'
import { nameField } from '../../platform/kernel/parse-input.ts'

export const senderInput = z.strictObject({ name: nameField })
export type SenderInput = z.output<typeof senderInput>

const instantAnswer = z.iso.datetime().nullable()

export const senderAnswer = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  tokenLast4: z.string(),
  lastUsedAt: instantAnswer,
  requestCount: z.int(),
  /** Until when the token before the last rotation is still good. */
  previousTokenUntil: instantAnswer,
  /** When its token reached the TUS endpoint, so was in a browser, and on which page. */
  exposedAt: instantAnswer,
  exposedOrigin: z.string().nullable(),
  revokedAt: instantAnswer,
  createdAt: z.iso.datetime(),
})
export type Sender = z.output<typeof senderAnswer>

export function toSender(row: typeof senders.$inferSelect): Sender {
  return {
    id: row.id,
    name: row.name,
    tokenLast4: row.tokenLast4,
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
    requestCount: row.requestCount,
    previousTokenUntil: row.previousTokenUntil?.toISOString() ?? null,
    exposedAt: row.exposedAt?.toISOString() ?? null,
    exposedOrigin: row.exposedOrigin,
    revokedAt: row.revokedAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
  }
}
