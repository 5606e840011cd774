import { createCipheriv } from 'node:crypto'

/** Returns the same pseudo-random bytes each time. */
export function keystream(bytes: number): Buffer {
  return createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16)).update(Buffer.alloc(bytes))
}
