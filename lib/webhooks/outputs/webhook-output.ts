import { z } from 'zod'
import { EVENT_KINDS, type webhookOutputs } from '#drizzle/schema/index.ts'
import { toAnswer } from '../../platform/kernel/parse-input.ts'
import { staticHeadersField } from './static-headers.ts'

/** The limit for each Pipe, and for each workspace. */
export const MAX_OUTPUTS = 5

/** The statuses that a file can end in. */
const statusField = z.enum(['transferred', 'failed', 'expired', 'canceled'], {
  message: 'must be transferred, failed, expired or canceled',
})
const kindField = z.enum(EVENT_KINDS, { message: `must be one of ${EVENT_KINDS.join(', ')}` })

const fields = {
  name: z.string().trim().min(1, 'must not be empty').max(100, 'must have at most 100 characters'),
  enabled: z.boolean(),
  url: z.string().trim().max(2048, 'must have at most 2048 characters'),
  statuses: z
    .array(statusField)
    // `transferred` is always sent.
    .transform((statuses) => [...new Set(['transferred' as const, ...statuses])]),
  events: z
    .array(kindField)
    .min(1, 'must name at least one kind of event')
    .transform((kinds) => EVENT_KINDS.filter((kind) => kinds.includes(kind))),
  headers: staticHeadersField,
}

/** Omitted fields of a new output have defaults. */
export const outputInput = z.strictObject({
  name: fields.name.default('Webhook'),
  enabled: fields.enabled.default(true),
  url: fields.url,
  statuses: fields.statuses.prefault([]),
  events: fields.events.prefault(['file.status_changed']),
  headers: fields.headers.default({}),
})
export type OutputInput = z.output<typeof outputInput>

/** Omitted fields stay unchanged. */
export const outputChanges = z.strictObject({
  name: fields.name.optional(),
  enabled: fields.enabled.optional(),
  url: fields.url.optional(),
  statuses: fields.statuses.optional(),
  events: fields.events.optional(),
  headers: fields.headers.optional(),
})
export type OutputChanges = z.output<typeof outputChanges>

/** Replaces a Pipe's first output, except for fields that did not exist when a Pipe could only have one output. */
export const webhookOutputInput = outputChanges.extend({
  enabled: outputInput.shape.enabled,
  url: outputInput.shape.url,
  statuses: outputInput.shape.statuses,
})
export type WebhookOutputInput = z.output<typeof webhookOutputInput>

const instantAnswer = z.iso.datetime().nullable()

export const webhookOutputAnswer = z.strictObject({
  id: z.uuid(),
  /** Null if the output gets events from all Pipes. */
  pipeId: z.string().nullable(),
  name: z.string(),
  enabled: z.boolean(),
  url: z.string(),
  statuses: z.array(z.string()),
  events: z.array(z.enum(EVENT_KINDS)),
  headerNames: z.array(z.string()),
  /** Why Sluice turned the output off, if it did. */
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

export type OutputRow = typeof webhookOutputs.$inferSelect

export const pipeOf = ({ pipeId, furtherPipeId }: OutputRow): string | null => pipeId ?? furtherPipeId

export const toWebhookOutput = (row: OutputRow): WebhookOutput =>
  toAnswer(webhookOutputAnswer, { ...row, pipeId: pipeOf(row) })
