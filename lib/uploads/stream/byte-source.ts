/**
 * Where the bytes of a request come from. It flows from `start` on, unless it is paused. `onChunk` returns how many
 * bytes of the chunk it took; the others are passed to it again once the source is resumed. A chunk is valid only
 * during the call.
 */
export type ByteSource = {
  start(onChunk: (chunk: Buffer) => number, onEnd: (how: 'end' | 'cut') => void): void
  pause(): void
  resume(): void
  /** No more bytes are wanted. */
  stop(): void
}

export const NO_BYTES: ByteSource = {
  start: (_, onEnd) => onEnd('end'),
  pause() {},
  resume() {},
  stop() {},
}
