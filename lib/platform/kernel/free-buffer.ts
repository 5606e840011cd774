/**
 * Immediately frees the memory of a buffer that nobody may read any more. Left to V8, chunks of 64 KiB cause some
 * twenty full garbage collections per GiB, and the small chunks of many clients fill malloc's heap, which never
 * shrinks.
 */
export function freeBuffer({ buffer, byteLength }: Buffer): void {
  // Others may share the memory, such as in Node's pool of small buffers.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
