import { inThisRequest } from '../platform/kernel/request-context.ts'
import type { ByteSource } from './byte-source.ts'
import type { StopReason } from './lease/held-lease.ts'
import { PAGE_BYTES } from './memory/page-pool.ts'
import { createPartBuffer, type PartBuffer } from './memory/part-buffer.ts'
import type { Spillable } from './memory/spill-slow-parts.ts'
import type { OpenUpload } from './open-upload.ts'
import type { PartLine } from './part-line.ts'
import type { UploadContext } from './upload-context.ts'

/** Why no more bytes came, and those that did not fill a part. */
export type Received = { why: 'end' | 'cut' | 'overrun' | 'fault' | StopReason; rest: PartBuffer }

export type Receiver = {
  done: Promise<Received>
  /** There may be room in the line again. */
  onRoom(): void
  /** A part could not be sent: stop reading. */
  onFault(): void
}

/**
 * Reads a request into parts. Memory is taken as bytes arrive; the source is paused while the budget is used up or
 * enough parts are under way. The last bytes of a file stay with `rest`, since what finishes it is decided there.
 */
export function receive(
  context: UploadContext,
  upload: OpenUpload,
  source: ByteSource,
  { line, mayTakeBytes, whole }: { line: () => PartLine; mayTakeBytes: number; whole: boolean },
): Receiver {
  const { clock, terms } = context
  const memory = context.budget.account(upload.bucket)
  const { promise: done, resolve } = Promise.withResolvers<Received>()
  let buffer = createPartBuffer(memory)
  /** How many bytes the buffer takes until its part is full; known until the line moves on. */
  let plannedBytes: number | undefined
  let takenBytes = 0
  let paused = false
  let waitsForMemory = false
  let stopped = false

  const stop = (why: Received['why']) => {
    if (stopped) return
    stopped = true
    memory.withdraw(part)
    source.stop()
    resolve({ why, rest: buffer })
  }
  const isLast = () => line().endBytes + buffer.bytes === upload.lengthBytes
  // Behind the last byte only the end is to come, which takes no memory and which a paused source would not tell.
  const mayFlow = () => isLast() || (!memory.full && line().waiting.length < terms.partsInFlight)
  const waitForMemory = () => {
    if (waitsForMemory) return
    waitsForMemory = true
    memory.whenFree(() => {
      waitsForMemory = false
      regulate()
    })
  }
  const regulate = () => {
    if (stopped) return
    const flows = mayFlow()
    if (flows === paused) {
      paused = !flows
      if (paused) source.pause()
      else source.resume()
    }
    // Also where it was the line that held it up: the last part may leave it while others have used the memory up.
    if (!flows && memory.full) waitForMemory()
  }
  const room = () => {
    plannedBytes ??= upload.numbers.targetBytes - line().endBytes
    return plannedBytes - buffer.bytes
  }
  const takeBuffer = () => {
    const taken = buffer
    plannedBytes = undefined
    buffer = createPartBuffer(memory)
    memory.withdraw(part)
    return taken
  }
  const takePage = (bytes: Buffer) => {
    for (let rest = bytes; rest.length > 0; ) {
      const space = Math.max(room(), 0)
      if (buffer.bytes === 0) memory.offer(part)
      buffer.push(rest.length > space ? rest.subarray(0, space) : rest, clock.now())
      rest = rest.subarray(Math.min(space, rest.length))
      if (room() <= 0 && !isLast()) line().send(takeBuffer())
    }
  }
  const onChunk = (chunk: Buffer) => {
    if (stopped) return chunk.length
    upload.lease.touch()
    if (takenBytes + chunk.length > mayTakeBytes) {
      stop('overrun')
      return chunk.length
    }
    let taken = 0
    // Others may have used the memory up since this source was told to flow.
    for (; taken < chunk.length && !memory.full; taken += PAGE_BYTES)
      takePage(chunk.length <= PAGE_BYTES ? chunk : chunk.subarray(taken, taken + PAGE_BYTES))
    taken = Math.min(taken, chunk.length)
    takenBytes += taken
    regulate()
    return taken
  }
  const spill = inThisRequest(async () => {
    if (stopped) return
    const taken = takeBuffer()
    if (upload.numbers.mayEndAt(line().endBytes + taken.bytes)) line().send(taken)
    else await line().keepTail(taken)
  })
  // A tail cannot pass a part that is on its way, and the last bytes go with what finishes the file.
  const maySpill = () => !isLast() && line().waiting.length === 0
  const part: Spillable = {
    heldBytes: () => (maySpill() ? buffer.heldBytes : 0),
    sinceMs: () => buffer.sinceMs,
    spill,
  }

  const { lease } = upload
  lease.signal.addEventListener('abort', () => stop('fault'), { once: true })
  if (lease.signal.aborted) stop('fault')
  else source.start(onChunk, stop)
  // Behind the bytes that are here already, which a stop would drop.
  lease.onStop(stop, { whole, waitsForUs: () => paused })
  regulate()
  return { done, onRoom: regulate, onFault: () => stop('fault') }
}
