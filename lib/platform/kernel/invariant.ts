/** Says what must be true here. A false one is a bug of ours, never a fault of a caller. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`invariant broken: ${message}`)
}
