import type { DestinationSet } from '#lib/dashboard/pipes/destination-set.ts'
import { formatBytes } from '../format.ts'

const LIST = new Intl.ListFormat('en')
const because = (names: string[]) => (names.length > 0 ? `, because of ${LIST.format(names)}` : '')

/** The size of the largest file that fits all of a Pipe's destinations, and the destinations that limit it. */
export const largestInWords = ({ largestBytes, limitedBy }: DestinationSet): string =>
  `${formatBytes(largestBytes)}${because(limitedBy)}`

export const partsInWords = ({ equalPartsFor }: DestinationSet): string =>
  equalPartsFor.length > 0
    ? `all the same size${because(equalPartsFor)}`
    : 'any size from 5 MiB, so that bytes received before an interruption are kept'

/** The destinations a missing object can be copied from. */
export function repairInWords({ members }: DestinationSet): string {
  const readable = members.filter(({ mayRead }) => mayRead).map(({ store }) => store.name)
  if (readable.length === 0)
    return 'Not possible: none of the destinations can be read. Grant s3:GetObject to the keys of at least one, and check it again.'
  if (readable.length === members.length)
    return 'Missing objects can be copied from any destination that has them.'
  return `Missing objects are copied from ${LIST.format(readable)}; the keys of the other destinations do not allow reading.`
}
