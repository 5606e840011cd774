import type { AttemptError, AttemptTrigger } from '#drizzle/schema/webhooks.ts'
import { days } from '../../platform/kernel/clock.ts'
import { retryAfterMs, retryDelayMs } from '../../platform/kernel/retry-schedule.ts'

/** The outcome of an attempt: a response with any status, or why there was none. */
export type Outcome =
  | { status: number; headers: Record<string, string>; body: string; detail?: string }
  | { status?: undefined; error: AttemptError; detail: string }

type Situation = {
  trigger: AttemptTrigger
  /** The number of this attempt, counted from 1. */
  attempt: number
  /** Since when every attempt to this output has failed. */
  failingSince: Date | null
}

export type Decision = {
  state: 'delivered' | 'pending' | 'failed'
  /** How long to wait before the next attempt, if there is to be one. */
  retryInMs?: number
  error?: AttemptError
  /** Set if the output is to be turned off: the reason. */
  turnOff?: string
}

const GIVE_UP_AFTER_MS = days(5)

/**
 * Decides what follows an attempt. Any 2xx means that the event is delivered. Other outcomes are retried by the
 * schedule, but no earlier than a 429 or 503 asks for. A 410, or five days of nothing but failures, turns the output
 * off. A test event is tried once and never turns an output off.
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
