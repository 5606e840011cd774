/**
 * Where the bytes of a request come from. Flows from `start` on, unless paused. A chunk is there for its call only, which
 * answers how much of it was taken: what was not comes again once the source is resumed.
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
