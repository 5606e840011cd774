import { createHash } from 'node:crypto'
import { crc32ToBase64 } from '../platform/kernel/crc32.ts'
import type { Capabilities } from './providers.ts'

/** Headers that make the bucket check the bytes that arrive. MD5 costs far more than CRC32: only for providers that insist. */
export function checksumHeaders(
  { bodyChecksum }: Pick<Capabilities, 'bodyChecksum'>,
  body: { chunks: readonly Uint8Array[]; crc32: number },
): Record<string, string> {
  if (bodyChecksum === 'crc32') return { 'x-amz-checksum-crc32': crc32ToBase64(body.crc32) }
  if (bodyChecksum === 'md5') return { 'content-md5': md5(body.chunks) }
  return {}
}

function md5(chunks: readonly Uint8Array[]): string {
  const hash = createHash('md5')
  for (const chunk of chunks) hash.update(chunk)
  return hash.digest('base64')
}
