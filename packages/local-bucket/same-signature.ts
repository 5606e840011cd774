import { timingSafeEqual } from 'node:crypto'

/** Takes as long for a signature that is nearly right as for one that is all wrong. */
export function sameSignature(expected: string, claimed: string | undefined): boolean {
  const [left, right] = [Buffer.from(expected), Buffer.from(claimed ?? '')]
  return left.length === right.length && timingSafeEqual(left, right)
}
