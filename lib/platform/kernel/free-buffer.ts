/**
 * Frees the memory of a buffer at once, which nobody may read any more. Left to V8, chunks of 64 KiB cause some twenty
 * full garbage collections per GiB, and small ones of many clients fill malloc's heap, which keeps what it has grown to.
 */
export function freeBuffer({ buffer, byteLength }: Buffer): void {
  // Others may be in the same memory, such as in the pool of Node's small buffers.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
