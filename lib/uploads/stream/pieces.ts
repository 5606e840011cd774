import type { StopReason } from '../lease/held-lease.ts'
import type { PartBuffer } from './part-buffer.ts'

/**
 * The source of a request's bytes. It flows after `start`, unless it is paused. `onChunk` returns how many bytes of the
 * chunk it accepted; the remaining bytes are passed to it again once the source is resumed. A chunk is only valid
 * during the call.
 */
export type ByteSource = {
  start(onChunk: (chunk: Buffer) => number, onEnd: (how: 'end' | 'cut') => void): void
  pause(): void
  resume(): void
  /** Stops the source, because no more bytes are needed. */
  stop(): void
}

export const NO_BYTES: ByteSource = {
  start: (_, onEnd) => onEnd('end'),
  pause() {},
  resume() {},
  stop() {},
}

/** A piece of a request's body. The last bytes are the rest. */
export type Piece = Full | Spill

/** The bytes that fill the next part. */
type Full = { kind: 'part'; buffer: PartBuffer }

/**
 * Fewer bytes than fill a part, handed over early because other uploads need the memory. The receiver has to call
 * `stored`, with the promise of the write if the bytes go to the database.
 */
type Spill = { kind: 'spill'; buffer: PartBuffer; stored: (until?: Promise<void>) => void }

/** The bytes that did not fill a part when the request ended, and why it ended. */
export type Rest = { kind: 'rest'; buffer: PartBuffer; why: 'end' | 'cut' | 'overrun' | StopReason }
