import { writeFileSync } from 'node:fs'
import { crc32, deflateRawSync } from 'node:zlib'

export type ZipEntry = { name: string; content: Buffer }

const VERSION = 20
const UTF8 = 0x0800
const DEFLATE = 8
/** 1980-01-01, the earliest date, so that the same files are always the same bytes. */
const DATE = 0x21
const MADE_ON_UNIX = (3 << 8) | VERSION
const REGULAR_FILE = 0o100644

export function writeZip(file: string, entries: ZipEntry[]): void {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, content } of entries) {
    const packed = deflateRawSync(content, { level: 9 })
    const path = Buffer.from(name)
    const common = fields(
      ...[2, VERSION, 2, UTF8, 2, DEFLATE, 2, 0, 2, DATE, 4, crc32(content)],
      ...[4, packed.length, 4, content.length, 2, path.length, 2, 0],
    )
    parts.push(fields(4, 0x04034b50), common, path, packed)
    const mode = REGULAR_FILE * 0x10000
    const place = fields(2, 0, 2, 0, 2, 0, 4, mode, 4, offset)
    directory.push(fields(4, 0x02014b50, 2, MADE_ON_UNIX), common, place, path)
    offset += 4 + common.length + path.length + packed.length
  }
  const listed = Buffer.concat(directory)
  const count = entries.length
  const end = fields(4, 0x06054b50, 2, 0, 2, 0, 2, count, 2, count, 4, listed.length, 4, offset, 2, 0)
  writeFileSync(file, Buffer.concat([...parts, listed, end]))
}

/** Pairs of a size in bytes and a value, little-endian. */
function fields(...pairs: number[]): Buffer {
  const bytes: number[] = []
  for (let at = 0; at < pairs.length; at += 2)
    for (let byte = 0; byte < pairs[at]!; byte++) bytes.push(Math.floor(pairs[at + 1]! / 256 ** byte) % 256)
  return Buffer.from(bytes)
}
