import type { FileUpload } from './file-upload.ts'

/** All strings in the components, for translation. */
export const WORDS = {
  choose: 'Choose files',
  drop: 'Drop files or folders here, or',
  list: 'Uploads',
  pause: (name: string) => `Pause ${name}`,
  resume: (name: string) => `Resume ${name}`,
  retry: (name: string) => `Retry ${name}`,
  cancel: (name: string) => `Cancel ${name}`,
  remove: (name: string) => `Remove ${name} from the list`,
  progress: (name: string) => `Progress of ${name}`,
  queued: 'In the queue',
  uploading: (percent: number) => `${percent}%`,
  waiting: (reason: string) => `${reason}. Retrying automatically.`,
  paused: (percent: number) => `Paused at ${percent}%`,
  failed: (reason: string) => `Failed: ${reason}`,
  unreadable: 'The browser could not read this item.',
  tooMany: (most: number) =>
    `Only the first ${most.toLocaleString('en')} dropped files were added. Drop the others separately.`,
  done: 'Uploaded',
  missing: 'Choose the same file again to continue the upload.',
  /** Announced by screen readers when an upload's state changes. */
  said: (name: string, state: string) => `${name}: ${state}`,
  saidMore: (count: number) => `And ${count.toLocaleString('en')} more.`,
}
export type Words = typeof WORDS

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
