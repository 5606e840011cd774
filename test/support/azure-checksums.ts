import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { AzureError } from './azure-error.ts'

const POLYNOMIAL = 0x9a6c9329ac4bc9b5n
const TABLE = Array.from({ length: 256 }, (_, byte) => {
  let value = BigInt(byte)
  for (let bit = 0; bit < 8; bit++) value = value & 1n ? (value >> 1n) ^ POLYNOMIAL : value >> 1n
  return [Number(value & 0xffffffffn), Number(value >> 32n)] as const
})

/** CRC-64/NVME, one byte at a time. */
export function referenceCrc64(bytes: Uint8Array): string {
  let [low, high] = [0xffffffff, 0xffffffff]
  for (const byte of bytes) {
    const [lowOf, highOf] = TABLE[(low ^ byte) & 0xff]!
    low = ((low >>> 8) | (high << 24)) ^ lowOf
    high = (high >>> 8) ^ highOf
  }
  const value = Buffer.alloc(8)
  value.writeUInt32LE(~low >>> 0, 0)
  value.writeUInt32LE(~high >>> 0, 4)
  return value.toString('base64')
}

/** Azure verifies the checksums that a request has. */
export function verifyBody({ headers }: IncomingMessage, body: Buffer): void {
  const md5 = headers['content-md5']
  if (md5 && createHash('md5').update(body).digest('base64') !== md5) throw new AzureError(400, 'Md5Mismatch')
  const crc64 = headers['x-ms-content-crc64']
  if (crc64 && referenceCrc64(body) !== crc64) throw new AzureError(400, 'Crc64Mismatch')
}
