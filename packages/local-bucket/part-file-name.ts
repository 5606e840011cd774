import type { Measured } from './checksums.ts'

/** A part of an open upload. */
export interface StoredPart extends Measured {
  number: number
  path: string
  lastModifiedMs: number
}

/** The name tells all there is to know about a part, so storing one is a single rename. */
export function partFileName(number: number, { size, crc32, md5 }: Measured): string {
  return `part-${String(number).padStart(5, '0')}-${size}-${crc32.toString(16).padStart(8, '0')}-${md5}`
}

export function readPartFileName(name: string): (Measured & { number: number }) | undefined {
  const fields = /^part-(\d{5})-(\d+)-([0-9a-f]{8})-([0-9a-f]{32})$/.exec(name)
  if (!fields) return undefined
  return {
    number: Number(fields[1]),
    size: Number(fields[2]),
    crc32: Number.parseInt(fields[3]!, 16),
    md5: fields[4]!,
  }
}
