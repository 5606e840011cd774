import type { Ledger, LedgerDestination, LedgerFile } from './core.ts'
import { assertHolds } from './failure.ts'
import type { Host } from './scheduler.ts'

/** What must hold in every state of the ledger, and from one state to the next. Nothing else is read. */

/** In the simulation a mebibyte is a kibibyte. */
const MIN_PART_BYTES = 5 * 1024

const ENDED = new Set(['transferred', 'partially_transferred', 'failed', 'expired', 'canceled'])
export const isEnded = ({ status }: LedgerFile) => ENDED.has(status)

/** Whether the file has an object at every required destination. */
export const isStored = ({ status }: LedgerFile) => status.endsWith('transferred')
export const isLane = ({ laneOf }: LedgerFile) => laneOf !== null
const isOpen = ({ status }: LedgerDestination) => status.endsWith('ing')
const isDelivered = ({ status }: LedgerDestination) => status === 'transferred'

/** `ends`: how many times its status became final. */
export function checkFile(file: LedgerFile, ends: number): void {
  const { filename, status, destinations } = file
  const isPut = destinations.every((one) => isDelivered(one) || !one.required)
  // While a file is sent in lanes, each of them has an offset and part numbers of its own.
  const isInLanes = file.lanes > 0 && status === 'uploading'
  if (!isEnded(file) && file.concat !== 'final' && (!isPut || isLane(file)) && !isInLanes) checkOffset(file)
  if (status === 'uploading' && !isInLanes) checkBound(file)
  if (!isLane(file)) checkDestinations(file)
  const events = file.concat !== 'partial' && !isLane(file) && !file.erased ? ends : 0
  assertHolds(
    'one event per status change',
    file.events === events,
    () => `${filename} is ${status} and has ${file.events} events`,
  )
  assertHolds(
    'no lease without an owner',
    !isEnded(file) || file.leaseUntil === null,
    () => `${filename} is ${status} and leased`,
  )
  assertHolds(
    'no bytes without an upload',
    !isEnded(file) || (file.tails.length === 0 && file.parts.length === 0),
    () => `${filename} is ${status} and has ${file.tails.length} tails and ${file.parts.length} parts`,
  )
  assertHolds(
    'an ended file reserves no quota',
    !isEnded(file) || file.reservedBytes === 0,
    () => `${filename} is ${status} and reserves ${file.reservedBytes}`,
  )
}

/** Checks what the next writer assumes about part numbers. */
function checkBound({
  filename,
  parts,
  recordedParts,
  recordedBytes,
  boundEnds,
  lengthBytes,
}: LedgerFile): void {
  const bytes = parts.reduce((sum, part) => sum + part.sizeBytes, 0)
  assertHolds(
    'recorded parts are counted',
    recordedParts === parts.length && recordedBytes === bytes,
    () =>
      `${filename} has ${parts.length} parts with ${bytes} bytes, and counts ${recordedParts} with ${recordedBytes}`,
  )
  for (const [n, end] of boundEnds.entries()) {
    const size = end - (boundEnds[n - 1] ?? recordedBytes)
    assertHolds(
      'a number is bound to a valid part',
      size >= MIN_PART_BYTES || (size > 0 && end === lengthBytes),
      () =>
        `part ${recordedParts + n + 1} of ${filename} is bound to ${size} bytes, which end at ${end} of ${lengthBytes}`,
    )
  }
}

/** Checks that a file's status matches its destinations. */
function checkDestinations({ filename, status, destinations }: LedgerFile): void {
  const required = destinations.filter((one) => one.required)
  const isTrue = {
    uploading: required.every(isOpen),
    transferring: required.every((one) => isOpen(one) || isDelivered(one)),
    transferred: destinations.every(isDelivered),
    partially_transferred: required.every(isDelivered) && !destinations.every(isDelivered),
    failed: !required.every(isDelivered),
    expired: !destinations.some(isDelivered),
    canceled: !destinations.some(isDelivered),
  }
  const isOver = status.endsWith('ing') || !destinations.some(isOpen)
  assertHolds(
    'a status matches each destination',
    isTrue[status] && isOver,
    () =>
      `${filename} is ${status}, its destinations ${destinations.map((one) => `${one.required ? 'required' : 'best effort'} ${one.status}`).join(', ')}`,
  )
}

/** Checks that parts, and then tails, cover every byte before the offset. */
function checkOffset({ filename, offsetBytes, parts, tails }: LedgerFile): void {
  let end = 0
  for (const [n, part] of parts.entries()) {
    assertHolds(
      'parts have no gaps',
      part.number === n + 1 && part.offsetBytes === end,
      () => `part ${part.number} of ${filename} starts at ${part.offsetBytes}, not ${end}`,
    )
    end += part.sizeBytes
  }
  for (const tail of tails.filter((one) => one.offsetBytes < offsetBytes)) {
    assertHolds(
      'tails have no gaps',
      tail.offsetBytes === end,
      () => `a tail of ${filename} starts at ${tail.offsetBytes}, not ${end}`,
    )
    end += tail.bytes
  }
  assertHolds(
    'offset never exceeds what is durable',
    end === offsetBytes,
    () => `${filename} has ${end} bytes, but offset ${offsetBytes}`,
  )
}

/**
 * `by`: the nodes that may have changed it, and their functions; `holder`: the node that has or had the
 * lease.
 */
export function checkChange(
  was: LedgerFile,
  is: LedgerFile,
  { by, holder }: { by: ReadonlyMap<Host, string>; holder: Host | undefined },
): void {
  const isRepaired = was.status === 'partially_transferred' && is.status === 'transferred'
  assertHolds(
    'an end is final',
    // A lane that was complete ends with its file.
    !isEnded(was) || was.status === is.status || isRepaired || isLane(is),
    () => `${is.filename} was ${was.status} and is ${is.status}`,
  )
  for (const [n, { status, bucket }] of is.destinations.entries()) {
    const before = was.destinations[n]!
    const isCopied = was.status === 'partially_transferred' && status === 'transferred'
    assertHolds(
      'the end of a destination is final',
      isOpen(before) || before.status === status || isCopied,
      () => `${bucket} was ${before.status} for ${is.filename} and is ${status}`,
    )
  }
  assertHolds(
    'offset never goes back',
    // Bytes that a Pipe refuses are not kept.
    is.offsetBytes >= was.offsetBytes || (is.reason === 'type_mismatch' && is.offsetBytes === 0),
    () => `${is.filename} was at ${was.offsetBytes} and is at ${is.offsetBytes}`,
  )
  assertHolds(
    'fences only grow',
    is.fence >= was.fence,
    () => `${is.filename} had fence ${was.fence} and has ${is.fence}`,
  )
  // The writers of its lanes record the parts of a file, and that all of them have arrived.
  if (is.lanes > 0 && was.status === 'uploading') return
  if (is.fence > was.fence || writtenOf(was) === writtenOf(is)) return
  assertHolds(
    'only the holder of the lease writes',
    holder !== undefined && by.has(holder),
    () =>
      `${is.filename} was changed by ${[...by].map(([{ name }, label]) => `${label} of node ${name}`).join(' or ')}`,
  )
}

/** The values that only a writer changes. */
function writtenOf(file: LedgerFile): string {
  const { offsetBytes, recordedParts, recordedBytes, boundEnds, destinations, parts, tails } = file
  const counts = [parts.length, tails.length]
  // The cleanup clears the ids of abandoned uploads.
  const multiparts = destinations.map((one) => one.required && !isEnded(file) && one.multipartId)
  return JSON.stringify([offsetBytes, recordedParts, recordedBytes, boundEnds, ...multiparts, ...counts])
}

export function checkUsage({ files, usedBytes, reservedBytes, dayBytes }: Ledger, quotaBytes: number): void {
  const sum = (of: (file: LedgerFile) => number) => files.reduce((total, file) => total + of(file), 0)
  // The bytes of a joined file were counted with its pieces, and those of a file in lanes with its lanes.
  const counted = sum((file) => (file.concat === 'final' || file.lanes > 0 ? 0 : file.countedBytes))
  const reserved = sum((file) => file.reservedBytes)
  assertHolds(
    'quota counts each byte once',
    counted === usedBytes && usedBytes === dayBytes,
    () => `${counted} are counted, the month has ${usedBytes}, its days ${dayBytes}`,
  )
  assertHolds(
    'quota is reserved once',
    reserved === reservedBytes,
    () => `${reserved} are reserved, the month has ${reservedBytes}`,
  )
  assertHolds(
    'quota is never exceeded',
    quotaBytes === 0 || usedBytes + reservedBytes <= quotaBytes,
    () => `${usedBytes} are used and ${reservedBytes} reserved of ${quotaBytes}`,
  )
  for (const file of files)
    assertHolds(
      'quota counts each byte once',
      file.countedBytes <= file.offsetBytes,
      () => `${file.filename} has ${file.offsetBytes} and counts ${file.countedBytes}`,
    )
}

/** Checks a file at the end of a run. */
export function checkEnd(file: LedgerFile): void {
  const { filename, status, countedBytes, offsetBytes, reservedBytes } = file
  assertHolds('every upload ends', isEnded(file), () => `${filename} is ${status}`)
  assertHolds(
    'quota counts each byte once',
    countedBytes === offsetBytes,
    () => `${filename} has ${offsetBytes} and counts ${countedBytes}`,
  )
  assertHolds(
    'reserved quota is released',
    reservedBytes === 0,
    () => `${filename} reserves ${reservedBytes}`,
  )
}

/** What must hold for files that the customer's backend decides about. */

const isDecided = (decision: LedgerFile['decision']) => decision === 'allowed' || decision === 'rejected'

/** `hasSaid`: whether this decision was ever made. */
export function checkDecision(file: LedgerFile, hasSaid: (by: string, state: string) => boolean): void {
  const { filename, status, decision, decisions } = file
  const stored = decisions.map(({ state }) => state).join()
  const expected = decision === null || decision === 'due' || decision === 'asked' ? '' : decision
  assertHolds(
    'one decision for each file',
    stored === expected,
    () => `${filename} is ${decision}, and the stored decisions are ${stored || 'none'}`,
  )
  for (const { by, state } of decisions)
    assertHolds(
      'somebody has made each stored decision',
      by === 'time' || hasSaid(by, state),
      () => `nobody has decided that ${filename} is ${state} by ${by}`,
    )
  assertHolds(
    'only allowed files are transferred',
    !isStored(file) || decision === null || decision === 'allowed',
    () => `${filename} is ${status}, and ${decision}`,
  )
  assertHolds(
    'a rejected file has failed',
    decision !== 'rejected' || status === 'failed',
    () => `${filename} is rejected, and ${status}`,
  )
}

/** Only a deferral is replaced, and only once. */
export function checkDecisionChange(was: LedgerFile, is: LedgerFile): void {
  const isFinal = isDecided(was.decision) || (was.decision === 'deferred' && !isDecided(is.decision))
  assertHolds(
    'a decision is final',
    !isFinal || was.decision === is.decision,
    () => `${is.filename} was ${was.decision} and is ${is.decision}`,
  )
  assertHolds(
    'whether a hook decides about a file never changes',
    (was.decision === null) === (is.decision === null),
    () => `${is.filename} was ${was.decision} and is ${is.decision}`,
  )
}
