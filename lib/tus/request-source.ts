import type { IncomingMessage } from 'node:http'
import type { ByteSource } from '../uploads/byte-source.ts'

/** A client that sends nothing for so long has gone, whatever its connection says. Node's own limit is off. */
const IDLE_MS = 120_000

/** The body as Node reads it: no web stream, no copy. `observe` sees each chunk first. */
export function requestSource(body: IncomingMessage, observe?: (chunk: Buffer) => void): ByteSource {
  let stop = () => {}
  return {
    start(onChunk, onEnd) {
      let ended = false
      let paused = false
      let lastAt = performance.now()
      const end = (how: 'end' | 'cut') => {
        if (ended) return
        ended = true
        stop()
        onEnd(how)
      }
      const take = (chunk: Buffer) => {
        lastAt = performance.now()
        observe?.(chunk)
        onChunk(chunk)
      }
      const finish = () => end('end')
      const cut = () => end('cut')
      const idle = setInterval(() => {
        paused = body.isPaused()
        if (paused) lastAt = performance.now()
        else if (performance.now() - lastAt > IDLE_MS) body.destroy()
      }, IDLE_MS / 4)
      idle.unref()
      stop = () => {
        ended = true
        clearInterval(idle)
        body.off('data', take).off('end', finish).off('close', cut).off('error', cut)
        body.on('error', () => {}).pause()
      }
      body.on('data', take).on('end', finish).on('close', cut).on('error', cut)
      if (body.destroyed && !body.readableEnded) cut()
    },
    pause: () => void body.pause(),
    resume: () => void body.resume(),
    stop: () => stop(),
  }
}
