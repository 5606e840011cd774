import { type Ledger, type LedgerFile, leaseName, readLedger } from './core.ts'
import { Failure } from './failure.ts'
import { checkChange, checkEnd, checkFile, checkUsage, isEnded } from './ledger-rules.ts'
import type { Host } from './scheduler.ts'
import type { BucketRequest } from './simulated-bucket.ts'
import type { SimulatedClient } from './simulated-client.ts'
import type { World } from './world.ts'

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
      const was = known.get(file.id)
      for (const what of changesOf(was, file)) this.#world.milestone('ledger', what)
      checkFile(file)
      this.#checkBucket(file)
      if (was) checkChange(was, file, { by, holder: this.#holderOf(was) })
    }
    checkUsage(this.ledger, this.#world.habits.quotaBytes)
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

  /** What the ledger says of the bucket. */
  #checkBucket(file: LedgerFile): void {
    if (!isEnded(file) && file.concat !== 'final') for (const part of file.parts) this.#checkPart(file, part)
    if (this.#needsObject(file)) this.#checkObject(file)
  }

  /** A piece is deleted once the file is made that it was joined into, or if nobody has joined it. */
  #needsObject({ status, concat, retired, joinedInto }: LedgerFile): boolean {
    if (status !== 'transferred') return false
    if (concat !== 'partial' || !retired) return true
    return this.ledger.files.find(({ id }) => id === joinedInto)?.status === 'transferring'
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

  /** When all is over and nothing is under way. */
  async ended(): Promise<void> {
    await this.committed(new Map())
    for (const file of this.ledger.files) checkEnd(file)
    for (const { core, host } of this.#world.nodes) {
      if (core && core.usedBytes() !== 0)
        throw new Failure('memory is given back', `${host.name} still uses ${core.usedBytes()} bytes`)
      if (core && core.held.size > 0)
        throw new Failure('no lease without an owner', `${host.name} still has a lease`)
    }
    for (const client of this.#world.clients)
      for (const one of [client, ...client.pieces]) this.#checkClient(one)
  }

  #checkClient(client: SimulatedClient): void {
    const files = this.ledger.files.filter(({ filename }) => filename === client.name)
    // One plain request brings a file whose address its client never needs.
    const mine = files.find(({ id }) => id === client.fileId) ?? files.at(-1)
    if (
      client.end === 'done' &&
      !files.some(({ status }) => status === 'transferred') &&
      !this.#mayFail(mine)
    )
      throw new Failure(
        'a file that was confirmed is there',
        `${client.name} is ${mine?.status}: ${mine?.reason}`,
      )
    if (client.end === 'refused' && this.#world.habits.quotaBytes === 0)
      throw new Failure('no upload is refused without a reason', `${client.name} was refused`)
    const isOfPiece = client.pieces.some(({ end }) => end === 'gone')
    if (client.end === 'gone' && !isOfPiece && !this.#mayFail(mine))
      throw new Failure(
        'no upload fails without a reason',
        `${client.name} is ${mine?.status}: ${mine?.reason}`,
      )
  }

  /** Undefined if there is no record of it, as of a file that was to be joined. */
  #mayFail(file: LedgerFile | undefined): boolean {
    if (this.#world.mayFail || file === undefined) return this.#world.mayFail
    return file.status === 'transferred' || file.status === 'canceled' || this.#mayRebind(file)
  }

  /** Decision 26: a rejected body or a length that comes late can end inside a part that was sent. */
  #mayRebind(file: LedgerFile): boolean {
    const { deferred, checksums } = this.#clientOf(file).plan
    return deferred || checksums
  }

  #holderOf({ id, fence }: LedgerFile): Host | undefined {
    return this.#world.adopted.get(leaseName(id, fence))
  }

  #clientOf({ filename }: LedgerFile): SimulatedClient {
    const all = this.#world.clients.flatMap((client) => [client, ...client.pieces])
    return all.find(({ name }) => name === filename)!
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
