import { currentRequest } from '../kernel/request-context.ts'

/**
 * Knows whether the database answers. A statement that fails as one does without a database, or that has had no answer for
 * long, raises the question; then a new connection asks, until one is answered. The database is away only if nothing else
 * had an answer meanwhile: a slow statement or a full server is no outage. What a request waits for fails then, where
 * that request must be answered soon.
 */
export type Outages = {
  begun(giveUp: (error: Error) => void): Begun
  /** True if it is away, once that is known: then its start and its end are told, and no single failure. */
  explains(error: unknown): Promise<boolean> | undefined
  /** Who asks, and who wants to know. */
  watch(watcher: Watcher): void
  close(): void
}
/** Ends the watch over a statement. */
export type Begun = (error?: unknown) => void
export type Watcher = {
  /** Connects, has an answer and ends. */
  ask(): Promise<unknown>
  onAway?(error: unknown): void
  onBack?(awayMs: number): void
}
type Times = { suspectAfterMs: number; answerWithinMs: number; askEveryMs: number }

/** The first two together stay below the two seconds in which pages and the API answer. */
const TIMES: Times = { suspectAfterMs: 900, answerWithinMs: 900, askEveryMs: 250 }

export function createOutages({ suspectAfterMs, answerWithinMs, askEveryMs }: Times = TIMES): Outages {
  const waiting = new Set<(error: Error) => void>()
  let watcher: Watcher | undefined
  let answers = 0
  let away: { error: Error; sinceMs: number } | undefined
  let asking: Promise<boolean> | undefined
  let closed = false

  /** Undefined: it answers. */
  const trouble = async (): Promise<{ cause: unknown } | undefined> => {
    const before = answers
    const asked = watcher!.ask().then(
      () => undefined,
      (cause: unknown) => (isOutage(cause) ? { cause } : undefined),
    )
    const outcome = await Promise.race([asked, patience(answerWithinMs)])
    if (outcome === undefined || answers > before) return undefined
    return outcome === 'late' ? { cause: new Error(`no answer for ${answerWithinMs} ms`) } : outcome
  }
  const leave = ({ cause }: { cause: unknown }) => {
    const error = Object.assign(new Error('The database does not answer.', { cause }), {
      code: 'CONNECT_TIMEOUT',
    })
    away = { error, sinceMs: performance.now() }
    watcher?.onAway?.(cause)
    for (const giveUp of [...waiting]) giveUp(error)
  }
  const untilItAnswers = async () => {
    for (;;) {
      await pause(askEveryMs)
      if (closed || !(await trouble())) break
    }
    if (away && !closed) watcher?.onBack?.(performance.now() - away.sinceMs)
    away = undefined
  }
  /** True if it is away. */
  const suspect = async (): Promise<boolean> => {
    if (away) return true
    if (!watcher || closed) return false
    asking ??= trouble().then((found) => {
      asking = undefined
      if (!found || closed) return false
      leave(found)
      void untilItAnswers()
      return true
    })
    return asking
  }
  return {
    begun(giveUp) {
      const timer = setTimeout(suspect, suspectAfterMs).unref()
      const isUrgent = currentRequest()?.failsSoon === true
      if (isUrgent) waiting.add(giveUp)
      if (isUrgent && away) giveUp(away.error)
      return (error) => {
        clearTimeout(timer)
        waiting.delete(giveUp)
        if (isOutage(error)) void suspect()
        else answers += 1
      }
    },
    explains: (error) => (isOutage(error) && isOfDatabase(error) ? suspect() : undefined),
    watch(given) {
      watcher = given
    },
    close() {
      closed = true
    },
  }
}

const LOOKS = 20

/** In short pauses: while this process is busy it hears no answer, and that is no silence of the database. */
async function patience(ms: number): Promise<'late'> {
  for (let look = 0; look < LOOKS; look++) await pause(ms / LOOKS)
  return 'late'
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref())
}

/** Buckets and mail servers go away with the same codes. postgres.js and Drizzle put the query into what they throw. */
function isOfDatabase(error: unknown): boolean {
  let at = error
  for (let depth = 0; depth < MAX_DEPTH && at instanceof Error; depth++) {
    if ('query' in at || /^CONNECT/.test(String((at as { code?: unknown }).code))) return true
    at = at.cause
  }
  return false
}

/** The database did not answer, or is going down: the same request may succeed in a moment. */
const CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  // Its name does not resolve: so does the name of a container that restarts.
  'ENOTFOUND',
  'EAI_AGAIN',
  'CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  // PostgreSQL, appendix A: admin_shutdown, crash_shutdown, cannot_connect_now, too_many_connections.
  '57P01',
  '57P02',
  '57P03',
  '53300',
])
/** Of the system, and disk_full of PostgreSQL: nothing can be written until somebody makes room. */
const FULL = new Set(['ENOSPC', 'EDQUOT', '53100'])
/** Of PostgreSQL: lock_not_available, and deadlock_detected, which it may see as soon as it is asked for the lock. */
const LOCKED = new Set(['55P03', '40P01'])
const MAX_DEPTH = 5

export const isOutage = (error: unknown): boolean => hasCode(error, CODES)
export const isDiskFull = (error: unknown): boolean => hasCode(error, FULL)
export const isLockFailure = (error: unknown): boolean => hasCode(error, LOCKED)

function hasCode(error: unknown, codes: ReadonlySet<string>): boolean {
  let at = error
  for (let depth = 0; depth < MAX_DEPTH && at instanceof Error; depth++) {
    if (codes.has(String((at as { code?: unknown }).code))) return true
    at = at.cause
  }
  return false
}
