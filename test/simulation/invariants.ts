import { type Ledger, type LedgerFile, leaseName, readLedger } from './core.ts'
import { Failure } from './failure.ts'
import type { Host } from './scheduler.ts'
import type { BucketRequest } from './simulated-bucket.ts'
import type { SimulatedClient } from './simulated-client.ts'
import type { World } from './world.ts'

const ENDED = new Set(['transferred', 'failed', 'expired', 'canceled'])
const isEnded = ({ status }: LedgerFile) => ENDED.has(status)

/** What has to be so after every step. */
export class Invariants {
  ledger: Ledger = { files: [], usedBytes: 0, reservedBytes: 0, dayBytes: 0 }
  readonly #world: World
  /** The range of bytes that each part number was first sent with. */
  readonly #sentRanges = new Map<string, string>()

  constructor(world: World) {
    this.#world = world
  }

  /** After something may have been committed. */
  async committed(by: ReadonlyMap<Host, string>): Promise<void> {
    const before = this.ledger
    this.ledger = await readLedger(this.#world.site.sessions.own)
    const known = new Map(before.files.map((file) => [file.id, file]))
    for (const file of this.ledger.files) {
      this.#checkFile(file)
      const was = known.get(file.id)
      if (was) this.#checkChange(was, file, by)
      for (const what of changesOf(was, file)) this.#world.milestone('ledger', what)
    }
    this.#checkUsage()
  }

  /** After each step, without a look at the database. */
  stepped(): void {
    for (const { core, host } of this.#world.nodes) {
      if (!core) continue
      if (core.usedBytes() > core.limitBytes)
        throw new Failure('memory stays within its limit', `${host.name} uses ${core.usedBytes()} bytes`)
    }
  }

  offsetTold(client: SimulatedClient, offset: number): void {
    if (offset < client.confirmedBytes)
      throw new Failure(
        'offset never goes back',
        `${client.name} was told ${client.confirmedBytes}, then ${offset}`,
      )
    const durable = this.ledger.files.find(({ id }) => id === client.fileId)?.offsetBytes
    if (durable === undefined || offset > durable)
      throw new Failure(
        'offset never exceeds what is durable',
        `${client.name} was told ${offset} of ${durable}`,
      )
  }

  /** A request to the bucket is about to leave its node. */
  sending(host: Host, operation: string, { key, query, body }: BucketRequest): void {
    const file = this.ledger.files.find((one) => one.key === key)
    if (!file || operation !== 'UploadPart' || file.concat === 'final') return
    const number = Number(query.get('partNumber'))
    const multipartId = query.get('uploadId')
    const from = startOf(file, number)
    const bound = from === undefined ? undefined : endOf(file, number, from)
    const range = `${from} to ${from! + body.length}`
    const source = this.#sourceOf(file)
    if (bound !== from! + body.length)
      throw new Failure(
        'a part is bound before it is sent',
        `${host.name} sends part ${number} of ${file.filename} with ${body.length} bytes, but it is bound from ${from} to ${bound}`,
      )
    if (!source.subarray(from!, bound).equals(body))
      throw new Failure(
        'a part has the bytes of its range',
        `${host.name} sends part ${number} of ${file.filename}`,
      )
    const name = `${multipartId} ${number}`
    const first = this.#sentRanges.get(name) ?? range
    this.#sentRanges.set(name, range)
    if (first !== range && !this.#mayRebind(file))
      throw new Failure(
        'no part number is bound to two ranges',
        `part ${number} was ${first} and is ${range}`,
      )
  }

  #checkFile(file: LedgerFile): void {
    const { filename, offsetBytes, parts, tails } = file
    if (!isEnded(file) && file.concat !== 'final') {
      let end = 0
      for (const [n, part] of parts.entries()) {
        if (part.number !== n + 1 || part.offsetBytes !== end)
          throw new Failure(
            'parts are without a gap',
            `part ${part.number} of ${filename} begins at ${part.offsetBytes}, not ${end}`,
          )
        this.#checkPart(file, part)
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
    if (file.status === 'transferred') this.#checkObject(file)
    const events = isEnded(file) && file.concat !== 'partial' && !file.erased ? 1 : 0
    if (file.events !== events)
      throw new Failure(
        'one event per status change',
        `${filename} is ${file.status} and has ${file.events} events`,
      )
    if (isEnded(file) && file.leaseUntil !== null)
      throw new Failure('no lease without an owner', `${filename} is ${file.status} and leased`)
  }

  #checkPart({ multipartId, filename, ...file }: LedgerFile, part: LedgerFile['parts'][number]): void {
    const stored = this.#world.bucket.multiparts.get(multipartId ?? '')?.parts.get(part.number)
    // The object may have been made of it since, or the bucket has dropped the upload.
    if (!stored) return
    const { offsetBytes, sizeBytes } = part
    const source = this.#sourceOf({ filename, ...file } as LedgerFile)
    const isSame = source.subarray(offsetBytes, offsetBytes + sizeBytes).equals(stored.bytes)
    if (!isSame)
      throw new Failure(
        'a recorded part has the bytes of its range',
        `part ${part.number} of ${filename} differs`,
      )
  }

  #checkObject(file: LedgerFile): void {
    const object = this.#world.bucket.objects.get(file.key)
    if (!object?.bytes.equals(this.#sourceOf(file)))
      throw new Failure(
        'an object is what the client sent',
        `${file.filename} is transferred, and ${object ? `its object of ${object.bytes.length} bytes differs` : 'has no object'}`,
      )
  }

  /** Who changed the ledger of a file must have its lease. */
  #checkChange(was: LedgerFile, is: LedgerFile, by: ReadonlyMap<Host, string>): void {
    if (isEnded(was) && was.status !== is.status)
      throw new Failure('an end is final', `${is.filename} was ${was.status} and is ${is.status}`)
    if (is.offsetBytes < was.offsetBytes)
      throw new Failure(
        'offset never goes back',
        `${is.filename} was at ${was.offsetBytes} and is at ${is.offsetBytes}`,
      )
    if (is.fence < was.fence)
      throw new Failure('fences only grow', `${is.filename} had fence ${was.fence} and has ${is.fence}`)
    if (is.fence > was.fence || ledgerOf(was) === ledgerOf(is)) return
    const holder = this.#world.adopted.get(leaseName(was.id, was.fence))
    if (!holder || !by.has(holder))
      throw new Failure(
        'only the holder of the lease writes',
        `${is.filename} was changed by ${[...by].map(([{ name }, label]) => `${label} of ${name}`).join(' or ')}`,
      )
  }

  #checkUsage(): void {
    const { files, usedBytes, reservedBytes, dayBytes } = this.ledger
    const sum = (of: (file: LedgerFile) => number) => files.reduce((total, file) => total + of(file), 0)
    const counted = sum((file) => (file.concat === 'final' ? 0 : file.countedBytes))
    const reserved = sum((file) => file.reservedBytes)
    if (counted !== usedBytes || usedBytes !== dayBytes)
      throw new Failure(
        'quota counts each byte once',
        `${counted} are counted, the month has ${usedBytes}, its days ${dayBytes}`,
      )
    if (reserved !== reservedBytes)
      throw new Failure('quota is reserved once', `${reserved} are reserved, the month has ${reservedBytes}`)
    for (const file of files)
      if (file.countedBytes > file.offsetBytes)
        throw new Failure(
          'quota counts each byte once',
          `${file.filename} has ${file.offsetBytes} and counts ${file.countedBytes}`,
        )
  }

  /** When all is over and nothing is under way. */
  async ended(): Promise<void> {
    await this.committed(new Map())
    for (const file of this.ledger.files) {
      if (!isEnded(file)) throw new Failure('every upload ends', `${file.filename} is ${file.status}`)
      if (file.countedBytes !== file.offsetBytes)
        throw new Failure(
          'quota counts each byte once',
          `${file.filename} has ${file.offsetBytes} and counts ${file.countedBytes}`,
        )
      if (file.reservedBytes !== 0)
        throw new Failure('quota is given back', `${file.filename} reserves ${file.reservedBytes}`)
    }
    for (const { core, host } of this.#world.nodes) {
      if (core && core.usedBytes() !== 0)
        throw new Failure('memory is given back', `${host.name} still uses ${core.usedBytes()} bytes`)
      if (core && core.held.size > 0)
        throw new Failure('no lease without an owner', `${host.name} still has a lease`)
    }
    for (const client of this.#world.clients) this.#checkClient(client)
  }

  #checkClient(client: SimulatedClient): void {
    const files = this.ledger.files.filter(({ filename }) => filename === client.name)
    // One plain request brings a file whose address its client never needs.
    const mine = files.find(({ id }) => id === client.fileId) ?? files.at(-1)
    if (
      client.end === 'done' &&
      !files.some(({ status }) => status === 'transferred') &&
      !(mine && this.#mayFail(mine))
    )
      throw new Failure(
        'a file that was confirmed is there',
        `${client.name} is ${mine?.status}: ${mine?.reason}`,
      )
    if (client.end === 'gone' && !(mine && this.#mayFail(mine)))
      throw new Failure(
        'no upload fails without a reason',
        `${client.name} is ${mine?.status}: ${mine?.reason}`,
      )
  }

  #mayFail(file: LedgerFile): boolean {
    return (
      this.#world.mayFail ||
      file.status === 'transferred' ||
      file.status === 'canceled' ||
      this.#mayRebind(file)
    )
  }

  /** Decision 26: a rejected body or a length that comes late can end inside a part that was sent. */
  #mayRebind(file: LedgerFile): boolean {
    const { deferred, checksums } = this.#clientOf(file).plan
    return deferred || checksums
  }

  #clientOf({ filename }: LedgerFile): SimulatedClient {
    return this.#world.clients.find(({ name }) => name === filename)!
  }

  #sourceOf(file: LedgerFile): Buffer {
    return this.#clientOf(file).source
  }
}

/** What a statement has changed, in words. */
function changesOf(was: LedgerFile | undefined, is: LedgerFile): string[] {
  const { filename, fence, holder, parts, offsetBytes, status, events } = is
  return [
    holder !== null && fence !== was?.fence && `lease ${fence} of ${filename} is taken`,
    parts.length > (was?.parts.length ?? 0) && `part ${parts.length} of ${filename} is recorded`,
    offsetBytes > (was?.offsetBytes ?? 0) && `offset of ${filename} is ${offsetBytes}`,
    status !== (was?.status ?? 'uploading') && `${filename} is ${status}`,
    events > (was?.events ?? 0) && `${filename} has its event`,
  ].filter((what) => what !== false)
}

/** What only a writer changes. */
function ledgerOf({
  offsetBytes,
  recordedParts,
  recordedBytes,
  boundEnds,
  multipartId,
  parts,
  tails,
}: LedgerFile): string {
  return JSON.stringify([
    offsetBytes,
    recordedParts,
    recordedBytes,
    boundEnds,
    multipartId,
    parts.length,
    tails.length,
  ])
}

/** Where the range begins that a part number has in the ledger. */
function startOf(file: LedgerFile, number: number): number | undefined {
  const { recordedParts, recordedBytes, boundEnds, parts } = file
  if (number <= recordedParts) return parts[number - 1]?.offsetBytes
  return number === recordedParts + 1 ? recordedBytes : boundEnds[number - recordedParts - 2]
}

function endOf(file: LedgerFile, number: number, from: number): number | undefined {
  const { recordedParts, boundEnds, parts, status, offsetBytes } = file
  if (number <= recordedParts) return from + parts[number - 1]!.sizeBytes
  // The tail of a file whose bytes are all there becomes its last part.
  if (status === 'transferring') return offsetBytes
  return boundEnds[number - recordedParts - 1]
}
