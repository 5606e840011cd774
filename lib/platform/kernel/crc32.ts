/**
 * CRC32 arithmetic (the CRC32 of zlib, PNG and `x-amz-checksum-crc32`). `zlib.crc32` computes the checksum of bytes.
 * This module does what zlib does not export: it computes the checksum of two consecutive ranges from the checksum of
 * each, without their bytes. Polynomials over GF(2) are bit-reflected, so that 1 << 31 is 1 and 1 << 30 is x.
 */
const POLYNOMIAL = 0xedb88320
const ONE = 0x80000000
const X = 0x40000000

/** The CRC32 of `a` followed by `b`, where `lengthOfB` is the number of bytes in `b`. */
export function combineCrc32(a: number, b: number, lengthOfB: number): number {
  return (multiply(a, powerOfX(lengthOfB)) ^ b) >>> 0
}

/** The S3 format for headers and XML: base64 of four bytes, most significant first. */
export function crc32ToBase64(crc: number): string {
  const bytes = Buffer.allocUnsafe(4)
  bytes.writeUInt32BE(crc >>> 0)
  return bytes.toString('base64')
}

/** Undefined if the text is not the base64 of four bytes. */
export function crc32FromBase64(text: string): number | undefined {
  return /^[A-Za-z0-9+/]{5}[AQgw]==$/.test(text) ? Buffer.from(text, 'base64').readUInt32BE() : undefined
}

/** `POWERS[k]` is x^(2^k). The order of x is 2^32 - 1, so x^(2^32) is x, and 32 entries are enough. */
const POWERS: number[] = [X]
while (POWERS.length < 32) POWERS.push(multiply(POWERS.at(-1)!, POWERS.at(-1)!))

/**
 * x^(8 * bytes) modulo the polynomial, computed by squaring. Shifts would not work, because lengths can exceed 2^32.
 */
function powerOfX(bytes: number): number {
  let power = ONE
  for (let rest = bytes, k = 3; rest > 0; rest = Math.floor(rest / 2), k++) {
    if (rest % 2 === 1) power = multiply(POWERS[k & 31]!, power)
  }
  return power
}

function multiply(a: number, b: number): number {
  let product = 0
  let shifted = b
  for (let bit = ONE; bit !== 0; bit >>>= 1) {
    if (a & bit) product ^= shifted
    shifted = shifted & 1 ? (shifted >>> 1) ^ POLYNOMIAL : shifted >>> 1
  }
  return product >>> 0
}
