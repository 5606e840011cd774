import type { LedgerFile } from './core.ts'
import { assertHolds } from './failure.ts'
import { isLane } from './ledger-rules.ts'

type Range = { from: number; to: number }
type Sent = Range & { multipartId: string; number: number }

/**
 * The range of bytes that each part number was sent with. A part may arrive at any time, so its number stays bound to
 * that range.
 */
export class SentParts {
  /** By multipart upload, for a lane also by its id, and by number. */
  readonly #ranges = new Map<string, Map<number, Range>>()

  add(file: LedgerFile, { multipartId, number, from, to }: Sent): void {
    const at = nameOf(file, multipartId)
    const ranges = this.#ranges.get(at) ?? new Map<number, Range>()
    const first = ranges.get(number) ?? { from, to }
    this.#ranges.set(at, ranges.set(number, { from, to }))
    assertHolds(
      'no part number is bound to two ranges',
      (first.from === from && first.to === to) || endsInside(file, first),
      () => `part ${number} of ${file.filename} was ${first.from} to ${first.to} and is ${from} to ${to}`,
    )
  }

  /** Checks the part numbers as long as the upload may be continued. */
  check(file: LedgerFile): void {
    if (file.status !== 'uploading') return
    for (const [number, sent] of this.#of(file)) {
      const from = startOf(file, number)
      const to = from === undefined ? undefined : endOf(file, number, from)
      assertHolds(
        'a sent part stays bound',
        (sent.from === from && sent.to === to) || endsInside(file, sent),
        () =>
          `part ${number} of ${file.filename} was sent from ${sent.from} to ${sent.to}, and is bound from ${from} to ${to}`,
      )
    }
  }

  /** Whether the last part's number may still be sent again with different bytes. */
  isCutShort(file: LedgerFile): boolean {
    return this.#of(file).some(([, sent]) => endsInside(file, sent))
  }

  #of(file: LedgerFile): [number, Range][] {
    const names = isLane(file)
      ? [...this.#ranges.keys()].filter((name) => name.startsWith(nameOf(file, '')))
      : file.destinations.map(({ multipartId }) => nameOf(file, multipartId ?? ''))
    return names.flatMap((name) => [...(this.#ranges.get(name) ?? [])])
  }
}

/** Each lane numbers its parts from 1. */
const nameOf = (file: LedgerFile, multipartId: string) =>
  isLane(file) ? `${file.id} ${multipartId}` : multipartId

/** Decision 8: a late length can end inside a part that was sent, and its number then gets a shorter range. */
const endsInside = ({ lengthBytes }: LedgerFile, { to }: Range) => lengthBytes !== null && to > lengthBytes

/** The start of a part number's range in the ledger. */
export function startOf(file: LedgerFile, number: number): number | undefined {
  const { recordedParts, recordedBytes, boundEnds, parts } = file
  if (number <= recordedParts) return parts[number - 1]?.offsetBytes
  return number === recordedParts + 1 ? recordedBytes : boundEnds[number - recordedParts - 2]
}

export function endOf(file: LedgerFile, number: number, from: number): number | undefined {
  const { recordedParts, boundEnds, parts, status, offsetBytes } = file
  if (number <= recordedParts) return from + parts[number - 1]!.sizeBytes
  // Once all bytes are there, a file's tail becomes its last part.
  if (status === 'transferring') return offsetBytes
  return boundEnds[number - recordedParts - 1]
}
