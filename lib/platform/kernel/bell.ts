/** Waits for a ring, the time or the end, whichever comes first; a ring that nobody waits for is kept. */
export function createBell(signal: AbortSignal) {
  let rung = false
  let wake = () => {}
  const ring = () => {
    rung = true
    wake()
  }
  signal.addEventListener('abort', ring, { once: true })
  return {
    ring,
    async wait(ms: number): Promise<void> {
      if (!rung) {
        const { promise, resolve } = Promise.withResolvers<void>()
        const timer = setTimeout(resolve, ms)
        wake = resolve
        await promise
        clearTimeout(timer)
      }
      rung = false
    },
  }
}
