/**
 * Where the bytes of a request come from. Flows from `start` on, unless paused. A chunk is valid only during its call,
 * which returns how many of its bytes were taken; the rest comes again once the source is resumed.
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
