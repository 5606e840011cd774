import { z } from 'zod'
import {
  ATTEMPT_ERRORS,
  ATTEMPT_TRIGGERS,
  type attempts,
  DELIVERY_STATES,
  type deliveries,
  EVENT_KINDS,
  type EventKind,
} from '#drizzle/schema/index.ts'
import { toAnswer } from '../../platform/kernel/parse-input.ts'

const instantAnswer = z.iso.datetime().nullable()
const headersAnswer = z.record(z.string(), z.string())

const attemptAnswer = z.strictObject({
  id: z.uuid(),
  at: z.iso.datetime(),
  durationMs: z.int().nullable(),
  status: z.int().nullable(),
  error: z.enum(ATTEMPT_ERRORS).nullable(),
  trigger: z.enum(ATTEMPT_TRIGGERS),
})

const shared = {
  id: z.uuid(),
  eventId: z.uuid(),
  /** The kind of event. */
  event: z.enum(EVENT_KINDS),
  outputId: z.uuid(),
  /** Empty if the event does not concern a single Pipe. */
  pipeId: z.string(),
  fileId: z.uuid().nullable(),
  test: z.boolean(),
  url: z.string(),
  state: z.enum(DELIVERY_STATES),
  nextAttemptAt: instantAnswer,
  /** True while an attempt is in progress. */
  underWay: z.boolean(),
  deliveredAt: instantAnswer,
  createdAt: z.iso.datetime(),
}

export const deliveryAnswer = z.strictObject({ ...shared, attempts: z.array(attemptAnswer) })
export type Delivery = z.output<typeof deliveryAnswer>

/** A delivery with its requests and responses. */
export const wholeDeliveryAnswer = z.strictObject({
  ...shared,
  requestBody: z.string(),
  attempts: z.array(
    attemptAnswer.extend({
      url: z.string(),
      requestHeaders: headersAnswer,
      responseHeaders: headersAnswer.nullable(),
      /** The first 16 KiB of the response. */
      responseBody: z.string().nullable(),
      /** A description of what went wrong. */
      errorDetail: z.string().nullable(),
    }),
  ),
})
export type WholeDelivery = z.output<typeof wholeDeliveryAnswer>

type Row = typeof deliveries.$inferSelect
export type AttemptRow = Pick<
  typeof attempts.$inferSelect,
  'id' | 'at' | 'durationMs' | 'status' | 'error' | 'trigger'
>

export function toDelivery(row: Row, event: EventKind, made: AttemptRow[], nowMs: number): Delivery {
  const underWay = row.claimedUntil !== null && row.claimedUntil.getTime() > nowMs
  return toAnswer(deliveryAnswer, {
    ...row,
    event,
    outputId: row.webhookOutputId,
    pipeId: row.pipeId === row.workspaceId ? '' : row.pipeId,
    nextAttemptAt: underWay ? null : row.nextAttemptAt,
    underWay,
    attempts: made.map(toAttempt),
  })
}

const ERRORS: Record<string, string> = {
  dns: 'Its host name could not be resolved.',
  connect: 'Its host could not be reached.',
  tls: 'The secure connection failed.',
  timeout: 'It did not respond in time.',
  blocked: 'Its address is not allowed.',
  off: 'Its output was switched off.',
}

/** Why a receiver did not accept an event, in words. */
export const explainAttempt = ({ status, error }: { status: number | null; error: string | null }): string =>
  ERRORS[error ?? ''] ?? `It responded with ${status ?? 'nothing'}.`

export const toAttempt = (row: AttemptRow): Delivery['attempts'][number] => toAnswer(attemptAnswer, row)
