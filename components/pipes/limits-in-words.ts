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
