import type { IncomingMessage } from 'node:http'
import { inThisRequest } from '../../platform/kernel/request-context.ts'
import { isTracing } from '../../platform/tracing/span.ts'
import type { ByteSource } from '../../uploads/byte-source.ts'

/**
 * A client that sends nothing for so long has gone, whatever its connection says. Node's own limit is off. Less than
 * balancers wait: they could only say that something broke.
 */
export const IDLE_MS = 100_000
/** Smaller ones do not matter, and may lie in a buffer with others. */
const DISCARDED_BYTES = 16_384
/** What is taken before anybody wants it; Node itself would hold as much. */
const EARLY_BYTES = 65_536

/**
 * The body as Node reads it: no web stream, no copy. It is listened to from the first moment, since Node throws away what
 * nobody has read when a client hangs up; unless the client itself waits for leave to send (RFC 9110, 10.1.1).
 */
export function requestSource(body: IncomingMessage): ByteSource {
  /** What came before anybody wanted it, or when there was no memory for it. */
  const untaken: Buffer[] = []
  let earlyBytes = 0
  let flows = false
  let delivering = false
  let ended: 'end' | 'cut' | undefined
  let idle: NodeJS.Timeout | undefined
  let onChunk = (_: Buffer): number => 0
  let onEnd = (_: 'end' | 'cut'): void => {}

  const unwatch = () => {
    clearTimeout(idle)
    idle = undefined
  }
  const watch = () => {
    unwatch()
    idle = setTimeout(() => body.destroy(), IDLE_MS)
  }
  const deliver = () => {
    // What takes a chunk may pause and resume while it does.
    if (delivering) return
    delivering = true
    while (flows && untaken.length > 0) {
      const chunk = untaken.shift()!
      const taken = onChunk(chunk)
      if (taken < chunk.length) untaken.unshift(chunk.subarray(taken))
      else discard(chunk)
    }
    delivering = false
    // Who is cut off is not kept waiting for memory: another request may want to go on.
    if (ended === 'cut' || (ended && untaken.length === 0)) onEnd(ended)
  }
  const take = (chunk: Buffer) => {
    idle?.refresh()
    untaken.push(chunk)
    if (flows) return deliver()
    earlyBytes += chunk.length
    if (earlyBytes >= EARLY_BYTES) body.pause()
  }
  const endWith = (how: 'end' | 'cut') => () => {
    ended ??= how
    deliver()
  }
  const finish = endWith('end')
  const cut = endWith('cut')
  const pause = () => {
    flows = false
    unwatch()
    body.pause()
  }
  const resume = () => {
    flows = true
    watch()
    deliver()
    // Any of the chunks may have paused it again.
    if (flows) body.resume()
  }
  const stop = () => {
    pause()
    untaken.length = 0
    onChunk = (chunk) => chunk.length
    onEnd = () => {}
  }
  const listen = () => {
    if (!body.listeners('data').includes(take))
      body.on('data', take).on('end', finish).on('close', cut).on('error', cut)
  }
  if (!body.headers?.expect) listen()
  return {
    start(wantsChunk, wantsEnd) {
      // A socket and the memory budget call from contexts of their own, or of another request. Half a microsecond each.
      onChunk = isTracing() ? inThisRequest(wantsChunk) : wantsChunk
      onEnd = inThisRequest((how) => {
        stop()
        wantsEnd(how)
      })
      listen()
      resume()
    },
    pause,
    resume,
    stop,
  }
}

/**
 * Gives the memory of a chunk back now, not at the next collection: left to V8, chunks of 64 KiB make it collect its whole
 * heap some twenty times in a GiB, which costs more than all else that happens to the bytes.
 */
function discard(chunk: Buffer): void {
  const { buffer } = chunk
  const whole = buffer instanceof ArrayBuffer && buffer.byteLength === chunk.byteLength
  if (whole && chunk.byteLength >= DISCARDED_BYTES) buffer.transfer(0)
}

/** Shows every byte that is taken to somebody else, too. */
export function observed(source: ByteSource, see: (bytes: Buffer) => void): ByteSource {
  return {
    ...source,
    start(onChunk, onEnd) {
      source.start((chunk) => {
        const taken = onChunk(chunk)
        see(chunk.subarray(0, taken))
        return taken
      }, onEnd)
    },
  }
}
