import { S3Error } from './s3-error.ts'

export interface ByteRange {
  first: number
  /** Included. */
  last: number
}

/** RFC 9110, 14.2: one range of bytes. Several, or what is no range, mean the whole. */
export function readRange(header: string | undefined, size: number): ByteRange | undefined {
  const [, from, to] = /^bytes=(\d{0,16})-(\d{0,16})$/.exec(header ?? '') ?? []
  if (from === undefined || to === undefined || (from === '' && to === '')) return undefined
  if (from !== '' && to !== '' && Number(to) < Number(from)) return undefined
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1)
  if (first > last) throw new S3Error('InvalidRange', undefined, { ActualObjectSize: String(size) })
  return { first, last }
}

export function rangeHeaders(range: ByteRange | undefined, size: number): Record<string, string> {
  if (!range) return {}
  const { first, last } = range
  return { 'content-range': `bytes ${first}-${last}/${size}`, 'content-length': String(last - first + 1) }
}
