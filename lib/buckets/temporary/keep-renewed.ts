import type { Clock } from '../../platform/kernel/clock.ts'

/** Credentials that end `lifetimeMs` after they were requested. */
export type Temporary<Value> = { value: Value; lifetimeMs: number }

export type Renewed<Value> = {
  /** Resolves to credentials that are still valid, and renews them in the background before they end. */
  current(): Promise<Value>
  /** Makes the next request wait for new credentials, because the provider no longer accepts these. */
  drop(value: Value): void
}

/** After this share of their lifetime, credentials are renewed; the rest is for outages of whoever issues them. */
const RENEW_AT = 0.75
/** From then on they are not sent any more, because they may end before a request arrives. */
const STOP_AT = 0.95
const RETRY_MS = 5000

/**
 * Shares temporary credentials between all requests that need them. At most one renewal runs at a time. Requests wait
 * for it only if they have nothing else to send.
 */
export function keepRenewed<Value>(obtain: () => Promise<Temporary<Value>>, clock: Clock): Renewed<Value> {
  let held: { value: Value; renewAtMs: number; endsAtMs: number } | undefined
  let renewal: Promise<Value> | undefined

  const renew = async (): Promise<Value> => {
    const requestedAtMs = clock.now()
    try {
      const { value, lifetimeMs } = await obtain()
      held = {
        value,
        renewAtMs: requestedAtMs + lifetimeMs * RENEW_AT,
        endsAtMs: requestedAtMs + lifetimeMs * STOP_AT,
      }
      return value
    } catch (error) {
      if (held) held.renewAtMs = Math.min(clock.now() + RETRY_MS, held.endsAtMs)
      throw error
    }
  }
  return {
    async current() {
      const nowMs = clock.now()
      const isDue = !held || nowMs >= held.renewAtMs
      if (isDue)
        renewal ??= renew().finally(() => {
          renewal = undefined
        })
      if (!held || nowMs >= held.endsAtMs) return renewal!
      // The credentials are still valid, so requests do not need to know about a failed renewal.
      if (isDue) renewal?.catch(() => {})
      return held.value
    },
    drop(value) {
      if (held?.value === value) held = undefined
    },
  }
}
