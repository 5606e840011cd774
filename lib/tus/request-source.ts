import type { IncomingMessage } from 'node:http'
import type { ByteSource } from '../uploads/byte-source.ts'

/** A client that sends nothing for so long has gone, whatever its connection says. Node's own limit is off. */
const IDLE_MS = 120_000
/** Smaller ones do not matter, and may lie in a buffer with others. */
const DISCARDED_BYTES = 16_384
/** What is taken before anybody wants it; Node itself would hold as much. */
const EARLY_BYTES = 65_536

/**
 * The body as Node reads it: no web stream, no copy. It is listened to from the first moment, since Node throws away what
 * nobody has read when a client hangs up; unless the client itself waits for leave to send (RFC 9110, 10.1.1).
 */
export function requestSource(body: IncomingMessage): ByteSource {
  const early: Buffer[] = []
  let earlyBytes = 0
  let ended: 'end' | 'cut' | undefined
  let idle: NodeJS.Timeout | undefined
  let onChunk = (chunk: Buffer): void => {
    // A copy, since a chunk is gone after its turn.
    early.push(Buffer.from(chunk))
    earlyBytes += chunk.length
    if (earlyBytes >= EARLY_BYTES) body.pause()
  }
  let onEnd = (how: 'end' | 'cut'): void => {
    ended ??= how
  }
  const unwatch = () => {
    clearTimeout(idle)
    idle = undefined
  }
  const watch = () => {
    unwatch()
    idle = setTimeout(() => body.destroy(), IDLE_MS)
  }
  const take = (chunk: Buffer) => {
    idle?.refresh()
    onChunk(chunk)
    discard(chunk)
  }
  const finish = () => onEnd('end')
  const cut = () => onEnd('cut')
  const stop = () => {
    unwatch()
    onChunk = () => {}
    onEnd = () => {}
    body.pause()
  }
  const listen = () => {
    if (!body.listeners('data').includes(take))
      body.on('data', take).on('end', finish).on('close', cut).on('error', cut)
  }
  if (!body.headers?.expect) listen()
  return {
    start(wantsChunk, wantsEnd) {
      onChunk = wantsChunk
      onEnd = (how) => {
        stop()
        wantsEnd(how)
      }
      listen()
      // Before the chunks, any of which may pause it again.
      if (earlyBytes >= EARLY_BYTES) body.resume()
      watch()
      for (const chunk of early.splice(0)) onChunk(chunk)
      if (ended) onEnd(ended)
    },
    pause() {
      unwatch()
      body.pause()
    },
    resume() {
      watch()
      body.resume()
    },
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

/** Shows every chunk to somebody else first. */
export function observed(source: ByteSource, see: (chunk: Buffer) => void): ByteSource {
  return {
    ...source,
    start(onChunk, onEnd) {
      source.start((chunk) => {
        see(chunk)
        onChunk(chunk)
      }, onEnd)
    },
  }
}
