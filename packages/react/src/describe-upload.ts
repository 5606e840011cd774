import type { FileUpload } from './file-upload.ts'
import type { Words } from './words.ts'

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB']

export function percentOf({ sentBytes, size, state }: FileUpload): number {
  if (size === 0) return state === 'done' ? 100 : 0
  return Math.floor((sentBytes / size) * 100)
}

export function describeUpload(upload: FileUpload, words: Words): string {
  const { state, reason = '' } = upload
  if (state === 'uploading' || state === 'paused') return words[state](percentOf(upload))
  if (state === 'waiting' || state === 'failed') return words[state](reason)
  return words[state]
}

export function describeSize(bytes: number): string {
  let unit = 0
  let amount = bytes
  for (; amount >= 999.5 && unit < UNITS.length - 1; unit++) amount /= 1000
  return `${Number(amount.toPrecision(3))} ${UNITS[unit]}`
}
