import { hours, seconds } from '../platform/kernel/clock.ts'
import { isSluiceError } from '../platform/kernel/errors.ts'
import { retryAfterMs, retryDelayMs } from '../platform/kernel/retry-schedule.ts'
import { NetworkError } from '../platform/net/network-error.ts'
import { classify } from '../uploads/rules/faults.ts'

/** An error at the source of an import. `isFinal`: another attempt would fail in the same way. */
export class ImportFailure extends Error {
  override readonly name = 'ImportFailure'
  readonly isFinal: boolean
  /** How long to wait, as requested by the source. */
  readonly retryAfterMs: number

  constructor(message: string, { isFinal = false, retryAfterMs = 0 } = {}) {
    super(message)
    this.isFinal = isFinal
    this.retryAfterMs = retryAfterMs
  }
}

/** The messages of these two errors are codes, which `explainFailure` explains. */
export const sourceChanged = () => new ImportFailure('source_changed', { isFinal: true })
export const digestMismatch = () => new ImportFailure('digest_mismatch', { isFinal: true })

export const interrupted = () =>
  new ImportFailure('The source closed the connection before the end of the file.')

export function tooSlow({ bytes, perMs }: { bytes: number; perMs: number }): ImportFailure {
  return new ImportFailure(`The source sent less than ${bytes} bytes within ${perMs / 1000} s.`)
}

const WAITS = new Set([408, 425, 429])

export function statusFailure(status: number, retryAfter: string | undefined, nowMs: number): ImportFailure {
  const isFinal = status < 500 && !WAITS.has(status)
  return new ImportFailure(`The source responded with status ${status}.`, {
    isFinal,
    retryAfterMs: retryAfterMs(retryAfter, nowMs),
  })
}

type Retries = { kind: 'retries'; error: string; afterMs: number; isFault?: true }
export type Judged =
  | { kind: 'fails'; reason: string }
  /** Not a failure: the import continues as if this attempt had not been made. */
  | { kind: 'waits'; ms: number }
  | Retries

const SOON_MS = seconds(1)
const LATER_MS = seconds(60)

/**
 * Determines what happens after an attempt has failed. The number of attempts is not limited here: see `scheduleRetry`.
 */
export function judgeFailure(error: unknown): Judged {
  if (error instanceof ImportFailure)
    return error.isFinal
      ? { kind: 'fails', reason: error.message }
      : { kind: 'retries', error: error.message, afterMs: error.retryAfterMs }
  if (error instanceof NetworkError)
    return error.fault === 'blocked'
      ? { kind: 'fails', reason: error.message }
      : { kind: 'retries', error: error.message, afterMs: 0 }
  if (isSluiceError(error)) {
    if (error.code === 'workspace_suspended') return { kind: 'waits', ms: LATER_MS }
    if (error.code === 'data_store_not_ready') return { kind: 'retries', error: error.message, afterMs: 0 }
    if (error.code.startsWith('token_'))
      return { kind: 'fails', reason: 'The Sender or the upload token of the import was revoked.' }
    if (error.passes) return { kind: 'waits', ms: SOON_MS }
    const { blame } = classify(error, 'part')
    if (blame === 'client') return { kind: 'fails', reason: error.message }
    // The import was canceled or taken over, as the next attempt will show.
    if (blame === 'rival' || blame === 'end') return { kind: 'waits', ms: SOON_MS }
    if (blame === 'bucket') return { kind: 'retries', error: error.message, afterMs: 0 }
  }
  const words = 'Sluice could not store the bytes and will try again.'
  return { kind: 'retries', error: words, afterMs: 0, isFault: true }
}

/** How many new bytes an attempt fetched, and how many it read again to compare them. */
export type Gained = { bytes: number; reread: number }

/** How many requests per MiB may follow each other immediately. */
const REQUESTS_PER_MIB = 16

/**
 * How long to wait after an attempt that fetched new bytes. However few they are, the import is not abandoned, but a
 * source that sends little at a time must not cost more than others.
 */
export function pauseAfterProgress(
  { bytes, reread }: Gained,
  { afterMs, isFault }: Pick<Retries, 'afterMs' | 'isFault'>,
  random: number,
): number {
  const isEnough = bytes >= Math.max((1024 * 1024) / REQUESTS_PER_MIB, reread)
  return Math.max(afterMs, isEnough && !isFault ? 0 : retryDelayMs(1, random)!)
}

/** After this time without progress, an import is abandoned. */
const GIVE_UP_AFTER_MS = hours(24)

type Failing = { failures: number; failingSinceMs: number | null }
type Retry = { dueAtMs: number; failures: number; failingSinceMs: number }

/** Returns when to retry an import that has made no progress, or undefined if it must not be retried. */
export function scheduleRetry(
  { failures, failingSinceMs }: Failing,
  { afterMs, nowMs, random }: { afterMs: number; nowMs: number; random: number },
): Retry | undefined {
  const sinceMs = failingSinceMs ?? nowMs
  const delayMs = retryDelayMs(failures + 1, random)
  if (delayMs === undefined) return undefined
  const dueAtMs = nowMs + Math.max(delayMs, afterMs)
  if (dueAtMs - sinceMs > GIVE_UP_AFTER_MS) return undefined
  return { dueAtMs, failures: failures + 1, failingSinceMs: sinceMs }
}
