import { z } from 'zod'
import { SENDER_SOURCES, type senderGroups, type senders } from '#drizzle/schema/index.ts'
import { hours } from '../../platform/kernel/clock.ts'
import { nameField, toAnswer } from '../../platform/kernel/parse-input.ts'

export const senderInput = z.strictObject({ name: nameField })
export type SenderInput = z.output<typeof senderInput>

const instantAnswer = z.iso.datetime().nullable()

export const limitsAnswer = z.strictObject({
  pipeIds: z.array(z.string()).nullable(),
  sources: z.array(z.enum(SENDER_SOURCES)).nullable(),
  silentHours: z.int().nullable(),
})

export const senderAnswer = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  groupId: z.uuid().nullable(),
  /** Its own limits. Those of its group apply where these are null. */
  ...limitsAnswer.shape,
  tokenLast4: z.string(),
  /** The last token request or sign-in. */
  lastUsedAt: instantAnswer,
  lastAddress: z.string().nullable(),
  lastFileAt: instantAnswer,
  /** Whether it has been silent for longer than it or its group allows. */
  isSilent: z.boolean(),
  requestCount: z.int(),
  /** How many token requests and sign-ins with its credentials were refused. */
  refusedCount: z.int(),
  refusedAt: instantAnswer,
  transferredBytes: z.int(),
  /** When the previous token, from before the last rotation, expires. */
  previousTokenUntil: instantAnswer,
  /** When its token was sent to the TUS endpoint, probably by a browser. `exposedOrigin` is the page's origin, if any. */
  exposedAt: instantAnswer,
  exposedOrigin: z.string().nullable(),
  revokedAt: instantAnswer,
  createdAt: z.iso.datetime(),
})
export type Sender = z.output<typeof senderAnswer>

/** A Sender's name and its token, which is only shown once. */
export const credentialAnswer = senderAnswer.pick({ id: true, name: true }).extend({ token: z.string() })
export type IssuedCredential = z.output<typeof credentialAnswer>

export type SenderRow = typeof senders.$inferSelect
export type GroupRow = typeof senderGroups.$inferSelect

export function toSender(sender: SenderRow, group: GroupRow | null, nowMs: number): Sender {
  const silentHours = sender.silentHours ?? group?.silentHours ?? Infinity
  const seenMs = Math.max(+(sender.lastUsedAt ?? 0), +(sender.lastFileAt ?? 0)) || +sender.createdAt
  const isSilent = !sender.revokedAt && nowMs - seenMs >= hours(silentHours)
  return toAnswer(senderAnswer, { ...sender, isSilent })
}
