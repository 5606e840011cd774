/**
 * A network that fails on demand: it cuts the requests in flight like a broken connection, and while it is down no
 * request gets out. The uploader on top is the one customers embed; only this part is for show.
 */
export type BadNetwork = {
  /** Asks the backend, if it can be reached. */
  call<Answer>(ask: () => Promise<Answer>): Promise<Answer>
  fetch: typeof globalThis.fetch
  /** Registers a request being sent: cutting one before it is sent would lose its headers. */
  send(xhr: XMLHttpRequest): void
  /** Between two requests, the next one breaks. */
  cut(): void
  setDown(down: boolean): void
}

export function createBadNetwork(): BadNetwork {
  const inFlight = new Set<XMLHttpRequest>()
  let down = false
  let cutNext = false

  function cut(): void {
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
        cutNext = false
        xhr.send = () => void queueMicrotask(() => breakLine(xhr))
        return
      }
      inFlight.add(xhr)
      xhr.addEventListener('loadend', () => inFlight.delete(xhr), { once: true })
    },
    cut() {
      cutNext = inFlight.size === 0
      cut()
    },
    setDown(now) {
      if (now === down) return
      down = now
      if (down) cut()
      window.dispatchEvent(new Event(down ? 'offline' : 'online'))
    },
  }
}

/** An abort is silent; a broken connection is an error. */
function breakLine(xhr: XMLHttpRequest): void {
  xhr.dispatchEvent(new ProgressEvent('error'))
}
