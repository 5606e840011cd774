import { z } from 'zod'
import type { senders } from '#drizzle/schema/index.ts'
import { nameField, toAnswer } from '../../platform/kernel/parse-input.ts'

export const senderInput = z.strictObject({ name: nameField })
export type SenderInput = z.output<typeof senderInput>

const instantAnswer = z.iso.datetime().nullable()

export const senderAnswer = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  tokenLast4: z.string(),
  lastUsedAt: instantAnswer,
  requestCount: z.int(),
  /** When the previous token, from before the last rotation, expires. */
  previousTokenUntil: instantAnswer,
  /** When its token was sent to the TUS endpoint, probably by a browser. `exposedOrigin` is the page's origin, if any. */
  exposedAt: instantAnswer,
  exposedOrigin: z.string().nullable(),
  revokedAt: instantAnswer,
  createdAt: z.iso.datetime(),
})
export type Sender = z.output<typeof senderAnswer>

export const toSender = (row: typeof senders.$inferSelect): Sender => toAnswer(senderAnswer, row)
