/**
 * A network that fails on demand: cutting it breaks the requests in flight like a lost connection, and while it is
 * down, no request is sent. Only this network is simulated; the uploader is the one that customers embed.
 */
export type BadNetwork = {
  /** Calls the backend, or fails while the network is down. */
  call<Answer>(ask: () => Promise<Answer>): Promise<Answer>
  fetch: typeof globalThis.fetch
  /**
   * Registers a request that is about to be sent. Call this once its headers are set: a request aborted before that
   * would lose them.
   */
  send(xhr: XMLHttpRequest): void
  /** Breaks the requests in flight or, if there are none, the next one. Returns whether there were any. */
  cut(): boolean
  setDown(down: boolean): void
}

/** `onCut` is called when a cut has broken a request. */
export function createBadNetwork(onCut: () => void): BadNetwork {
  const inFlight = new Set<XMLHttpRequest>()
  let down = false
  let cutNext = false

  function breakAll(): void {
    for (const xhr of inFlight) {
      xhr.abort()
      breakLine(xhr)
    }
    inFlight.clear()
  }

  async function call<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    if (down) throw new TypeError('Failed to fetch')
    const answer = await ask()
    if (down) throw new TypeError('Failed to fetch')
    return answer
  }

  return {
    call,
    fetch: (...args) => call(() => window.fetch(...args)),
    send(xhr) {
      if (down || cutNext) {
        if (cutNext) onCut()
        cutNext = false
        xhr.send = () => void queueMicrotask(() => breakLine(xhr))
        return
      }
      inFlight.add(xhr)
      xhr.addEventListener('loadend', () => inFlight.delete(xhr), { once: true })
    },
    cut() {
      cutNext = inFlight.size === 0
      if (!cutNext) onCut()
      breakAll()
      return !cutNext
    },
    setDown(now) {
      if (now === down) return
      down = now
      if (down) breakAll()
      window.dispatchEvent(new Event(down ? 'offline' : 'online'))
    },
  }
}

/** An abort dispatches no error event, but a lost connection does. */
function breakLine(xhr: XMLHttpRequest): void {
  xhr.dispatchEvent(new ProgressEvent('error'))
}
