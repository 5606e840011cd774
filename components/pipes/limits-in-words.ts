import type { DestinationSet } from '#lib/dashboard/pipes/destination-set.ts'
import { formatBytes } from '../format.ts'

/** What a file has to comply with to fit all destinations of a Pipe, and which of them demand it. */
const LIST = new Intl.ListFormat('en')
const because = (names: string[]) => (names.length > 0 ? `, because of ${LIST.format(names)}` : '')

export const largestInWords = ({ largestBytes, limitedBy }: DestinationSet): string =>
  `${formatBytes(largestBytes)}${because(limitedBy)}`

export const partsInWords = ({ equalPartsFor }: DestinationSet): string =>
  equalPartsFor.length > 0
    ? `all of one size${because(equalPartsFor)}`
    : 'of any size from 5 MiB, so that interruptions keep what has arrived'

/** From which of them a missing object can be copied. */
export function repairInWords({ members }: DestinationSet): string {
  const readable = members.filter(({ mayRead }) => mayRead).map(({ store }) => store.name)
  if (readable.length === 0)
    return 'Not possible: none of them may be read. Allow s3:GetObject for the keys of at least one, and check it again.'
  if (readable.length === members.length) return 'Any of them can be copied from.'
  return `Missing objects are copied from ${LIST.format(readable)}; the keys of the others may not read.`
}
