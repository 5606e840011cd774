import type { AttemptError, AttemptTrigger } from '#drizzle/schema/webhooks.ts'
import { days, seconds } from '../../platform/kernel/clock.ts'
import { retryAfterMs, retryDelayMs } from '../../platform/kernel/retry-schedule.ts'
import type { GuardedAgents } from '../../platform/net/guarded-agents.ts'
import { NetworkError } from '../../platform/net/network-error.ts'
import { type PostLimits, type PostRequest, post } from '../../platform/net/post.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { span } from '../../platform/tracing/span.ts'
import { openSecrets } from '../outputs/signing-secrets.ts'
import { HIDDEN, openHeaders } from '../outputs/static-headers.ts'
import { signWebhook } from '../signature/signature.ts'
import type { Claimed } from './claim.ts'

/** The outcome of an attempt: a response with any status, or why there was none. */
export type Outcome =
  | { status: number; headers: Record<string, string>; body: string; detail?: string }
  | { status?: undefined; error: AttemptError; detail: string }

type Situation = {
  trigger: AttemptTrigger
  /** The number of this attempt, starting at 1. */
  attempt: number
  /** When attempts to this output started failing. */
  failingSince: Date | null
}

export type Decision = {
  state: 'delivered' | 'pending' | 'failed'
  /** How long to wait before the next attempt, if any. */
  retryInMs?: number
  error?: AttemptError
  /** The reason for turning the output off, if it is to be turned off. */
  turnOff?: string
}

const GIVE_UP_AFTER_MS = days(5)

/**
 * Decides what follows an attempt. Any 2xx means that the event is delivered. Other outcomes are retried on the
 * schedule, but no earlier than a 429 or 503 asks for. A 410, or five days in which every attempt failed, turns the
 * output off. A test event is tried once and never turns an output off.
 */
export function decide(
  outcome: Outcome,
  { trigger, attempt, failingSince }: Situation,
  nowMs: number,
  random: number,
): Decision {
  if (isDelivered(outcome)) return { state: 'delivered' }
  const error = outcome.status === undefined ? outcome.error : 'status'
  if (trigger === 'test') return { state: 'failed', error }
  if (outcome.status === 410)
    return { state: 'failed', error, turnOff: 'The receiver responded with 410 Gone.' }
  if (failingSince && nowMs - failingSince.getTime() >= GIVE_UP_AFTER_MS) {
    return { state: 'failed', error, turnOff: 'Every attempt has failed for five days.' }
  }
  const scheduled = retryDelayMs(attempt, random)
  if (scheduled === undefined) return { state: 'failed', error }
  return { state: 'pending', error, retryInMs: Math.max(scheduled, askedWaitMs(outcome, nowMs)) }
}

export function isDelivered(outcome: Outcome): boolean {
  return outcome.status !== undefined && outcome.status >= 200 && outcome.status < 300
}

function askedWaitMs(outcome: Outcome, nowMs: number): number {
  if (outcome.status !== 429 && outcome.status !== 503) return 0
  return retryAfterMs(outcome.headers['retry-after'], nowMs)
}

/** A completed attempt and its outcome. */
export type Attempt = {
  claimed: Claimed & { output: NonNullable<Claimed['output']> }
  atMs: number
  durationMs: number
  requestHeaders: Record<string, string>
  outcome: Outcome
  decision: Decision
}

/** Called between the steps of an attempt, where tests kill the process. */
export type Checkpoint = (step: 'claimed' | 'prepared' | 'called' | 'recording' | 'recorded') => void

export type Delivering = Pick<Runtime, 'clock' | 'vault' | 'metrics' | 'log'> & {
  agents: GuardedAgents
  limits: PostLimits
  random: () => number
  record: (attempt: Attempt) => Promise<void>
  checkpoint: Checkpoint
}

/**
 * How long an idle connection is kept. Receivers silently close idle connections after a few seconds, and a request
 * on a closed one would be a failed attempt.
 */
export const KEPT_MS = seconds(1)

export const POST_LIMITS: PostLimits = {
  connectMs: seconds(5),
  totalMs: seconds(15),
  bodyMs: seconds(3),
  bodyBytes: 16 * 1024,
  headerBytes: 16 * 1024,
}

/**
 * Makes one attempt in three separate steps: prepare the request, call the receiver, record the outcome. The process
 * may die between any two of them. The delivery stays claimed until the record is committed, and when the claim
 * expires, another attempt is made with the same event id and the same body.
 */
export async function deliver(claimed: Attempt['claimed'], parts: Delivering): Promise<Attempt> {
  const { clock, random, record, checkpoint } = parts
  const atMs = clock.now()
  const prepared = prepare(claimed, parts, atMs)
  checkpoint('prepared')
  const startedAt = performance.now()
  const outcome = 'error' in prepared ? prepared : await send(prepared.request, claimed, parts)
  const durationMs = Math.round(performance.now() - startedAt)
  checkpoint('called')
  const requestHeaders = 'error' in prepared ? {} : prepared.logged
  const situation = { ...claimed, failingSince: claimed.output.failingSince }
  const decision = decide(outcome, situation, clock.now(), random())
  const attempt = { claimed, atMs, durationMs, requestHeaders, outcome, decision }
  observe(attempt, parts)
  await record(attempt)
  checkpoint('recorded')
  return attempt
}

/** `logged` has the headers for the log, without the values that only the receiver may see. */
type Prepared = { request: PostRequest; logged: Record<string, string> }

function prepare(
  { eventId: id, body, output, requestId, traceparent }: Attempt['claimed'],
  { vault, log }: Delivering,
  atMs: number,
): Prepared | Extract<Outcome, { error: unknown }> {
  try {
    const own = openHeaders(vault, output)
    const bytes = Buffer.from(body)
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': String(bytes.length),
      'User-Agent': 'Sluice-Webhooks/1.0',
      ...(requestId && { 'X-Request-Id': requestId }),
      ...(traceparent && { Traceparent: traceparent }),
      ...signWebhook(openSecrets(vault, output, atMs), { id, body, atMs }),
    }
    const hidden = Object.fromEntries(Object.keys(own).map((name) => [name, HIDDEN]))
    const request = { url: output.url, headers: { ...own, ...headers }, body: bytes }
    return { request, logged: { ...headers, ...hidden } }
  } catch (error) {
    log.error({ err: error, outputId: output.id }, 'could not decrypt the secrets of a webhook output')
    return {
      error: 'blocked',
      detail: 'Sluice cannot decrypt the secrets of this output. See the server log for details.',
    }
  }
}

async function send(
  request: PostRequest,
  { traceparent, output }: Attempt['claimed'],
  parts: Delivering,
): Promise<Outcome> {
  let outcome: Outcome | undefined
  const work = async () => (outcome = await call(request, parts))
  return span('webhook send', work, {
    parent: traceparent,
    kind: 'client',
    attributes: () => ({
      'server.address': new URL(output.url).host,
      'http.response.status_code': outcome?.status,
      'error.type': outcome && 'error' in outcome ? outcome.error : undefined,
    }),
  })
}

async function call(request: PostRequest, { agents, limits }: Delivering): Promise<Outcome> {
  try {
    const { cut, ...answer } = await post(agents, request, limits)
    return { ...answer, ...(cut && { detail: cut }) }
  } catch (error) {
    if (!(error instanceof NetworkError)) throw error
    return { error: error.fault, detail: error.message }
  }
}

function observe({ claimed, atMs, durationMs, outcome, decision }: Attempt, { metrics }: Delivering): void {
  metrics.webhookAttempts.inc({ outcome: isDelivered(outcome) ? 'delivered' : decision.error! })
  metrics.webhookSeconds.observe(durationMs / 1000)
  if (claimed.attempt === 1)
    metrics.webhookDelay.observe(Math.max(0, atMs - claimed.eventAt.getTime()) / 1000)
}
