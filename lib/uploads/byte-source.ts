/** Where the bytes of a request come from. Flows from `start` on, unless paused. A chunk is there for its call only. */
export type ByteSource = {
  start(onChunk: (chunk: Buffer) => void, onEnd: (how: 'end' | 'cut') => void): void
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
