/**
 * A network that fails when asked to: it cuts the requests in flight as a broken line would, and holds new ones
 * back while it is down. The uploader on top of it is the one that customers embed; only this is for show.
 */
export type BadNetwork = {
  /** Waits while the network is down. */
  up(): Promise<void>
  /** Takes note of a request that goes out now: one that is not sent yet must not be cut, it would lose its headers. */
  send(xhr: XMLHttpRequest): void
  /** Between two requests it is the next one that breaks. */
  cut(): void
  setDown(down: boolean): void
  isDown(): boolean
}

/** Long enough for a request to be on its way. */
const CUT_AFTER_MS = 20

export function createBadNetwork(): BadNetwork {
  const inFlight = new Set<XMLHttpRequest>()
  let back: PromiseWithResolvers<void> | undefined
  let cutNext = false

  function cut(): void {
    for (const xhr of inFlight) {
      xhr.abort()
      // An abort is silent; a broken line is an error.
      xhr.dispatchEvent(new ProgressEvent('error'))
    }
    inFlight.clear()
  }

  return {
    async up() {
      await back?.promise
    },
    send(xhr) {
      inFlight.add(xhr)
      if (cutNext || back) setTimeout(cut, CUT_AFTER_MS)
      cutNext = false
      xhr.addEventListener('loadend', () => inFlight.delete(xhr), { once: true })
    },
    cut() {
      cutNext = inFlight.size === 0
      cut()
    },
    setDown(down) {
      if (down === Boolean(back)) return
      if (down) {
        back = Promise.withResolvers()
        cut()
        return
      }
      back?.resolve()
      back = undefined
    },
    isDown: () => Boolean(back),
  }
}
