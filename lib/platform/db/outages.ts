import { currentRequest } from '../kernel/request-context.ts'
import { patience } from '../kernel/waits.ts'
import { isDiskFull, isOfDatabase, isOutage, isReadOnly } from './faults.ts'

/**
 * Detects whether the database responds. A statement that fails as if there were no database, or gets no response for a
 * while, triggers a check over a new connection. The database is only considered down if nothing else gets a response
 * during the check, or if it accepts no writes: a slow statement or a full server is not an outage. During an outage,
 * statements of requests that need a quick response fail, and new connections probe the database until one gets a
 * response.
 */
export type Outages = {
  begun(giveUp: (error: Error) => void): Begun
  /** Reports that a statement failed as if there were no database, even if it is going to be retried. */
  noticed(error: unknown): void
  /**
   * True if the log already reports the cause: an outage at its start and end, any other problem at its first failure.
   */
  explains(error: unknown): Promise<boolean> | undefined
  /** Sets how to probe the database, and the callbacks for its outages. */
  watch(watcher: Watcher): void
  close(): void
}
/** Stops watching a statement. */
export type Begun = (error?: unknown) => void
export type Watcher = {
  /** Connects, gets a response and closes. */
  ask(): Promise<unknown>
  onAway?(error: unknown): void
  onBack?(awayMs: number): void
  /** Called if some statements failed while others succeeded, once none has failed for a while. */
  onCalm?(failures: number): void
}
type Times = { suspectAfterMs: number; answerWithinMs: number; askEveryMs: number; calmAfterMs?: number }

/** Pages and the API must respond within two seconds, so the sum of the first two times is below that. */
const TIMES: Times = { suspectAfterMs: 900, answerWithinMs: 900, askEveryMs: 250 }
const CALM_AFTER_MS = 10_000
/** How long statements that were sent during an outage may still fail after its end. */
const AFTERMATH_MS = 10_000

export function createOutages(times: Times = TIMES): Outages {
  const { suspectAfterMs, answerWithinMs, askEveryMs, calmAfterMs = CALM_AFTER_MS } = times
  const waiting = new Set<(error: Error) => void>()
  let watcher: Watcher | undefined
  let answers = 0
  let away: { error: Error; sinceMs: number } | undefined
  let backAtMs = Number.NEGATIVE_INFINITY
  let asking: Promise<boolean> | undefined
  let closed = false
  const isRepeated = createSpell(calmAfterMs, (failures) => closed || watcher?.onCalm?.(failures))
  const trouble = () => troubleOf(watcher!, answerWithinMs, () => answers)
  const beAway = async ({ cause }: { cause: unknown }) => {
    away = { error: noAnswer(cause), sinceMs: performance.now() }
    watcher?.onAway?.(cause)
    for (const giveUp of [...waiting]) giveUp(away.error)
    do await pause(askEveryMs)
    while (!closed && (await answerOf(watcher!, answerWithinMs)))
    backAtMs = performance.now()
    if (!closed) watcher?.onBack?.(backAtMs - away.sinceMs)
    away = undefined
  }
  /** True if the database is down. */
  const suspect = async (): Promise<boolean> => {
    if (away) return true
    if (!watcher || closed) return false
    asking ??= trouble().then((found) => {
      asking = undefined
      if (!found || closed) return false
      void beAway(found)
      return true
    })
    return asking
  }
  const isTold = async () => (await suspect()) || performance.now() < backAtMs + AFTERMATH_MS || isRepeated()
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
    noticed: (error) => void (isOutage(error) && suspect()),
    explains(error) {
      if (!isOfDatabase(error)) return undefined
      if (isOutage(error)) return isTold()
      return isDiskFull(error) ? Promise.resolve(isRepeated()) : undefined
    },
    watch(given) {
      watcher = given
    },
    close() {
      closed = true
    },
  }
}

/**
 * Returns a function that counts a failure, and returns false for the first one in a series. A series ends when there
 * are no failures for a while.
 */
function createSpell(calmAfterMs: number, onCalm: (failures: number) => void): () => boolean {
  let failures = 0
  let timer: NodeJS.Timeout | undefined
  return () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      if (failures > 1) onCalm(failures)
      failures = 0
    }, calmAfterMs).unref()
    return failures++ > 0
  }
}

const noAnswer = (cause: unknown) =>
  Object.assign(new Error('The database is not responding.', { cause }), { code: 'CONNECT_TIMEOUT' })

/** Undefined if the database responds, or keeps responding to other statements. */
async function troubleOf(
  watcher: Watcher,
  withinMs: number,
  answers: () => number,
): Promise<Trouble | undefined> {
  for (let look = 1; ; look++) {
    const before = answers()
    const found = await refusalOf(watcher, withinMs)
    if (!found || isReadOnly(found.cause) || answers() === before) return found
    if (look === LOOKS_BESIDE_ANSWERS) return undefined
  }
}

/**
 * How many probes may fail while other statements get responses. During the first probe, late responses to statements
 * from before the outage may still arrive.
 */
const LOOKS_BESIDE_ANSWERS = 2

async function refusalOf(watcher: Watcher, withinMs: number): Promise<Trouble | undefined> {
  const sinceMs = performance.now()
  const first = await answerOf(watcher, withinMs)
  // One broken connection is not an outage.
  const isBroken = first !== undefined && performance.now() - sinceMs < withinMs / 2
  return isBroken ? answerOf(watcher, withinMs) : first
}

type Trouble = { cause: unknown }

/** Undefined if the database accepts a new connection in time. */
async function answerOf(watcher: Watcher, withinMs: number): Promise<Trouble | undefined> {
  const asked = watcher.ask().then(
    () => undefined,
    (cause: unknown) => (isOutage(cause) ? { cause } : undefined),
  )
  const outcome = await Promise.race([asked, patience(withinMs)])
  return outcome === 'late' ? { cause: new Error(`no response after ${withinMs} ms`) } : outcome
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref())
}
