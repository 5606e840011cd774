/**
 * Immediately frees the memory of a buffer that nobody may read any more. If this is left to V8, chunks of 64 KiB cause
 * about twenty full garbage collections per GiB, and small chunks from many clients fill malloc's heap, which never
 * shrinks.
 */
export function freeBuffer({ buffer, byteLength }: Buffer): void {
  // Other buffers may share the memory, for example in Node's pool for small buffers.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
