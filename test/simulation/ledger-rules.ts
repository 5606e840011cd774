import type { Ledger, LedgerFile } from './core.ts'
import { Failure } from './failure.ts'
import type { Host } from './scheduler.ts'

/** What has to be so in every state of the ledger, and from one state to the next. Nothing else is looked at. */

const ENDED = new Set(['transferred', 'failed', 'expired', 'canceled'])
export const isEnded = ({ status }: LedgerFile) => ENDED.has(status)

export function checkFile(file: LedgerFile): void {
  const { filename, status } = file
  if (!isEnded(file) && file.concat !== 'final') checkOffset(file)
  const events = isEnded(file) && file.concat !== 'partial' && !file.erased ? 1 : 0
  if (file.events !== events)
    throw new Failure('one event per status change', `${filename} is ${status} and has ${file.events} events`)
  if (isEnded(file) && file.leaseUntil !== null)
    throw new Failure('no lease without an owner', `${filename} is ${status} and leased`)
}

/** Parts and then tails cover every byte before the offset. */
function checkOffset({ filename, offsetBytes, parts, tails }: LedgerFile): void {
  let end = 0
  for (const [n, part] of parts.entries()) {
    if (part.number !== n + 1 || part.offsetBytes !== end)
      throw new Failure(
        'parts are without a gap',
        `part ${part.number} of ${filename} begins at ${part.offsetBytes}, not ${end}`,
      )
    end += part.sizeBytes
  }
  for (const tail of tails.filter((one) => one.offsetBytes < offsetBytes)) {
    if (tail.offsetBytes !== end)
      throw new Failure(
        'tails are without a gap',
        `a tail of ${filename} begins at ${tail.offsetBytes}, not ${end}`,
      )
    end += tail.bytes
  }
  if (end !== offsetBytes)
    throw new Failure(
      'offset never exceeds what is durable',
      `${filename} has ${end} bytes, but offset ${offsetBytes}`,
    )
}

/** `by`: those who may have changed it, and by which of their functions; `holder`: who has or had the lease. */
export function checkChange(
  was: LedgerFile,
  is: LedgerFile,
  { by, holder }: { by: ReadonlyMap<Host, string>; holder: Host | undefined },
): void {
  if (isEnded(was) && was.status !== is.status)
    throw new Failure('an end is final', `${is.filename} was ${was.status} and is ${is.status}`)
  if (is.offsetBytes < was.offsetBytes)
    throw new Failure(
      'offset never goes back',
      `${is.filename} was at ${was.offsetBytes} and is at ${is.offsetBytes}`,
    )
  if (is.fence < was.fence)
    throw new Failure('fences only grow', `${is.filename} had fence ${was.fence} and has ${is.fence}`)
  if (is.fence > was.fence || writtenOf(was) === writtenOf(is)) return
  if (!holder || !by.has(holder))
    throw new Failure(
      'only the holder of the lease writes',
      `${is.filename} was changed by ${[...by].map(([{ name }, label]) => `${label} of node ${name}`).join(' or ')}`,
    )
}

/** What only a writer changes. */
function writtenOf(file: LedgerFile): string {
  const { offsetBytes, recordedParts, recordedBytes, boundEnds, multipartId, parts, tails } = file
  const counts = [parts.length, tails.length]
  return JSON.stringify([offsetBytes, recordedParts, recordedBytes, boundEnds, multipartId, ...counts])
}

export function checkUsage({ files, usedBytes, reservedBytes, dayBytes }: Ledger, quotaBytes: number): void {
  const sum = (of: (file: LedgerFile) => number) => files.reduce((total, file) => total + of(file), 0)
  // The bytes of a joined file were counted with its pieces.
  const counted = sum((file) => (file.concat === 'final' ? 0 : file.countedBytes))
  const reserved = sum((file) => file.reservedBytes)
  if (counted !== usedBytes || usedBytes !== dayBytes)
    throw new Failure(
      'quota counts each byte once',
      `${counted} are counted, the month has ${usedBytes}, its days ${dayBytes}`,
    )
  if (reserved !== reservedBytes)
    throw new Failure('quota is reserved once', `${reserved} are reserved, the month has ${reservedBytes}`)
  if (quotaBytes > 0 && usedBytes + reservedBytes > quotaBytes)
    throw new Failure(
      'quota is never exceeded',
      `${usedBytes} are used and ${reservedBytes} reserved of ${quotaBytes}`,
    )
  for (const file of files)
    if (file.countedBytes > file.offsetBytes)
      throw new Failure(
        'quota counts each byte once',
        `${file.filename} has ${file.offsetBytes} and counts ${file.countedBytes}`,
      )
}

/** When everything is over. */
export function checkEnd(file: LedgerFile): void {
  const { filename, status, countedBytes, offsetBytes, reservedBytes } = file
  if (!isEnded(file)) throw new Failure('every upload ends', `${filename} is ${status}`)
  if (countedBytes !== offsetBytes)
    throw new Failure(
      'quota counts each byte once',
      `${filename} has ${offsetBytes} and counts ${countedBytes}`,
    )
  if (reservedBytes !== 0) throw new Failure('quota is given back', `${filename} reserves ${reservedBytes}`)
}
