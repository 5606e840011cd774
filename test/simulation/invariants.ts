import { createHash } from 'node:crypto'
import {
  type Ledger,
  type LedgerDestination,
  type LedgerFile,
  type LedgerPart,
  leaseName,
  readLedger,
} from './core.ts'
import { assertHolds } from './failure.ts'
import {
  checkChange,
  checkDecision,
  checkDecisionChange,
  checkEnd,
  checkFile,
  checkUsage,
  isEnded,
  isStored,
} from './ledger-rules.ts'
import type { Host } from './scheduler.ts'
import { endOf, SentParts, startOf } from './sent-parts.ts'
import type { BucketRequest } from './simulated-bucket.ts'
import { DECLARED, type SimulatedClient, type UploadPlan } from './simulated-client.ts'
import type { World } from './world.ts'

/** The protocols whose clients send a key. */
const KEYED: UploadPlan['protocol'][] = ['tus', 'lanes']

/** What must hold after every step. */
export class Invariants {
  ledger: Ledger = { files: [], usedBytes: 0, reservedBytes: 0, dayBytes: 0 }
  readonly #world: World
  readonly #sent = new SentParts()
  /** How often each file's status became final. */
  readonly #ends = new Map<string, number>()

  constructor(world: World) {
    this.#world = world
  }

  /** Checks the ledger after something may have been committed. */
  async committed(by: ReadonlyMap<Host, string>): Promise<void> {
    const before = this.ledger
    this.ledger = await readLedger(this.#world.site.sessions.own)
    const known = new Map(before.files.map((file) => [file.id, file]))
    for (const file of this.ledger.files) {
      const was = known.get(file.id)
      for (const what of changesOf(was, file)) this.#world.milestone('ledger', what)
      if (isEnded(file) && was?.status !== file.status)
        this.#ends.set(file.id, (this.#ends.get(file.id) ?? 0) + 1)
      checkFile(file, this.#ends.get(file.id) ?? 0)
      checkDecision(file, (by, state) => this.#world.receiver.hasSaid(file.id, by, state))
      if (was) checkDecisionChange(was, file)
      this.#sent.check(file)
      this.#checkHash(file)
      this.#checkBuckets(file)
      if (was) checkChange(was, file, { by, holder: this.#holderOf(was) })
    }
    if (this.#world.habits.keyed) this.#checkCreatedOnce()
    checkUsage(this.ledger, this.#world.habits.quotaBytes)
  }

  #checkCreatedOnce(): void {
    const { nowMs } = this.#world.scheduler
    const there = this.ledger.files.filter(
      ({ status, erased, expiresMs }) =>
        !erased &&
        !['failed', 'expired', 'canceled'].includes(status) &&
        !(status === 'uploading' && expiresMs <= nowMs),
    )
    for (const { name } of this.#world.clients.filter(({ plan }) => KEYED.includes(plan.protocol)))
      assertHolds(
        'a repeated creation makes one file',
        there.filter(({ filename }) => filename === name).length <= 1,
        () => `there are two files named ${name}`,
      )
  }

  nameOf(fileId: string): string {
    return this.ledger.files.find(({ id }) => id === fileId)?.filename ?? 'a file'
  }

  /** Checks the nodes after each step, without reading the database. */
  stepped(): void {
    for (const { core, host } of this.#world.nodes) {
      if (!core) continue
      assertHolds(
        'memory stays within its limit',
        core.usedBytes() <= core.limitBytes,
        () => `${host.name} uses ${core.usedBytes()} bytes`,
      )
    }
  }

  offsetTold(client: SimulatedClient, offset: number): void {
    assertHolds(
      'offset never goes back',
      offset >= client.confirmedBytes,
      () => `${client.name} was told ${client.confirmedBytes}, then ${offset}`,
    )
    const durable = this.ledger.files.find(({ id }) => id === client.fileId)?.offsetBytes
    assertHolds(
      'offset never exceeds what is durable',
      durable !== undefined && offset <= durable,
      () => `${client.name} was told ${offset} of ${durable}`,
    )
  }

  /** Checks a bucket request that is about to leave its node. */
  sending(host: Host, operation: string, { bucket, key, query, body }: BucketRequest): void {
    const number = Number(query.get('partNumber'))
    const file = this.#writtenAt(key, number)
    assertHolds(
      'no bytes of another type are sent',
      !file || body.length === 0 || this.#isWhatItSays(file),
      () => `${host.name} sends ${operation} with ${file!.filename} to ${bucket}`,
    )
    if (!file || operation !== 'UploadPart' || file.concat === 'final' || isEnded(file)) return
    const multipartId = query.get('uploadId')!
    const inFile = number - file.partsBefore
    const from = startOf(file, inFile)
    const bound = from === undefined ? undefined : endOf(file, inFile, from)
    const source = this.#sourceOf(file)
    assertHolds(
      'a part is bound before it is sent',
      bound === from! + body.length,
      () =>
        `${host.name} sends part ${number} of ${file.filename} to ${bucket} with ${body.length} bytes, but it is bound from ${from} to ${bound}`,
    )
    assertHolds(
      'a part has the bytes of its range',
      source.subarray(from!, bound).equals(body),
      () => `${host.name} sends part ${number} of ${file.filename} to ${bucket}`,
    )
    this.#sent.add(file, { multipartId, number: inFile, from: from!, to: from! + body.length })
  }

  /** The file with this key or, if it is sent in lanes, the lane that this part belongs to. */
  #writtenAt(key: string, partNumber: number): LedgerFile | undefined {
    const file = this.ledger.files.find((one) => one.destinations.some((at) => at.key === key))
    if (!file || file.lanes === 0 || partNumber === 0) return file
    const before = ({ laneOf, partsBefore }: LedgerFile) => laneOf === file.id && partsBefore < partNumber
    return this.ledger.files.filter(before).sort((a, b) => b.partsBefore - a.partsBefore)[0]
  }

  /** Checks a bucket that has handled a request: a late part must not replace a recorded one. */
  arrived(operation: string, { bucket, key, query }: BucketRequest): void {
    for (const file of this.ledger.files)
      for (const at of file.destinations.filter((one) => one.bucket === bucket && one.key === key)) {
        assertHolds(
          'no object before it is allowed',
          file.decision === null ||
            file.decision === 'allowed' ||
            !this.#world.buckets.get(bucket)!.objects.has(key),
          () => `${bucket} has ${file.filename}, which is ${file.decision}`,
        )
        if (operation !== 'UploadPart') continue
        const part = file.parts.find(({ number }) => number === Number(query.get('partNumber')))
        if (part && at.status.endsWith('ing')) this.#checkPart(file, at, part)
      }
  }

  /** The hash continues after any crash, so it must cover the confirmed bytes exactly. */
  #checkHash(file: LedgerFile): void {
    const { filename, offsetBytes, sha256, sha256Bytes } = file
    assertHolds(
      'a hash covers the confirmed bytes',
      !file.isHashed || sha256Bytes === offsetBytes,
      () => `the hash of ${filename} covers ${sha256Bytes} of ${offsetBytes} bytes`,
    )
    if (sha256 === null) return
    const covered = this.#sourceOf(file).subarray(0, sha256Bytes)
    assertHolds(
      'a hash is that of the bytes',
      sha256 === createHash('sha256').update(covered).digest('hex'),
      () => `the hash of the first ${sha256Bytes} bytes of ${filename} is that of others`,
    )
    const isComplete = sha256Bytes === offsetBytes || this.#world.mayFail
    assertHolds(
      'a stored file has its hash',
      !isStored(file) || isComplete,
      () => `${filename} of ${offsetBytes} bytes has the hash of ${sha256Bytes}`,
    )
  }

  /** Checks that each bucket has what the ledger says. */
  #checkBuckets(file: LedgerFile): void {
    for (const at of file.destinations) {
      const isOpen = at.status.endsWith('ing')
      if (isOpen && file.concat !== 'final') for (const part of file.parts) this.#checkPart(file, at, part)
      if (at.status === 'transferred' && this.#keepsObject(file)) this.#checkObject(file, at)
      const { mayAbort, multiparts } = this.#world.buckets.get(at.bucket)!
      const remains = mayAbort && multiparts.has(at.multipartId ?? '')
      assertHolds(
        'a multipart upload that remains is to be aborted',
        !remains || !isEnded(file) || file.concat === 'partial' || at.isLeft,
        () => `${file.filename} is ${file.status} and ${at.status}, and ${at.bucket} has ${at.multipartId}`,
      )
    }
  }

  /**
   * The object of a file that failed elsewhere is deleted. So is that of a partial upload, once the file it was joined
   * into has been created, or if nobody has joined it.
   */
  #keepsObject({ status, concat, retired, joinedInto }: LedgerFile): boolean {
    if (status === 'failed') return false
    if (concat !== 'partial' || !retired) return true
    return this.ledger.files.find(({ id }) => id === joinedInto)?.status === 'transferring'
  }

  /** Checks that a recorded part is in every required bucket, and in each other bucket whose ETag is recorded. */
  #checkPart(file: LedgerFile, at: LedgerDestination, part: LedgerPart): void {
    const etag = part.etags[at.position - 1] ?? null
    if (etag === null && !at.required) return
    const multipart = this.#world.buckets.get(at.bucket)!.multiparts.get(at.multipartId ?? '')
    // The object may have been created since the part was recorded, or the bucket may have dropped the upload.
    if (etag !== null && at.multipartId !== null && !multipart) return
    const stored = multipart?.parts.get(part.number)
    const { offsetBytes, sizeBytes } = part
    const bytes = this.#sourceOf(file).subarray(offsetBytes, offsetBytes + sizeBytes)
    assertHolds(
      'offset never exceeds what is durable',
      stored !== undefined && etag !== null,
      () => `part ${part.number} of ${file.filename} is recorded, but missing in ${at.bucket}`,
    )
    assertHolds(
      'a recorded part has the bytes of its range',
      bytes.equals(stored!.bytes),
      () => `part ${part.number} of ${file.filename} differs in ${at.bucket}`,
    )
    assertHolds(
      "a recorded part has its bucket's ETag",
      etag === `"${stored!.etag}"`,
      () => `part ${part.number} of ${file.filename} has a different one in ${at.bucket}`,
    )
  }

  #checkObject(file: LedgerFile, { bucket, key, status }: LedgerDestination): void {
    const object = this.#world.buckets.get(bucket)!.objects.get(key)
    assertHolds(
      'an object is what the client sent',
      object?.bytes.equals(this.#sourceOf(file)) === true,
      () =>
        `${file.filename} is ${status}, and ${bucket} has ${object ? `a different object of ${object.bytes.length} bytes` : 'no object'}`,
    )
  }

  /** Checks the end of a run, when nothing is in progress. */
  async ended(): Promise<void> {
    await this.committed(new Map())
    for (const file of this.ledger.files) checkEnd(file)
    for (const { core, host } of this.#world.nodes) {
      if (!core) continue
      assertHolds(
        'memory is released',
        core.usedBytes() === 0,
        () => `${host.name} still uses ${core.usedBytes()} bytes`,
      )
      assertHolds('no lease without an owner', core.held.size === 0, () => `${host.name} still has a lease`)
    }
    for (const client of this.#world.clients)
      for (const one of [client, ...client.pieces]) if (one.plan.protocol !== 'lane') this.#checkClient(one)
  }

  #checkClient(client: SimulatedClient): void {
    const files = this.ledger.files.filter(({ filename }) => filename === client.name)
    // A client that sends its file in one plain request never needs the file's address.
    const mine = files.find(({ id }) => id === client.fileId) ?? files.at(-1)
    assertHolds(
      'a confirmed file exists',
      client.end !== 'done' || files.some(isStored) || this.#mayFail(mine),
      () => `${client.name} is ${mine?.status}: ${mine?.reason}`,
    )
    // A client that sends a file in one request, or has pieces joined, may get the response that the decision is
    // pending, and one of a directory may only see that the file has all its bytes.
    const isTold = client.fileId !== undefined && !UNTOLD.has(client.plan.protocol)
    const isRejected = files.some(({ decision }) => decision === 'rejected')
    assertHolds(
      'rejected files, and no others, are reported as rejected',
      client.end === 'rejected'
        ? isRejected
        : !isTold || client.end !== 'done' || mine?.decision !== 'rejected',
      () => `${client.name} is ${client.end}: ${files.map(({ decision }) => decision).join()}`,
    )
    assertHolds(
      'a file with another checksum than declared is not stored',
      client.plan.declares !== 'another checksum' ||
        UNDECLARED.has(client.plan.protocol) ||
        !files.some(isStored),
      () => `${client.name} is stored`,
    )
    assertHolds(
      'no upload is rejected without a reason',
      client.end !== 'refused' || this.#world.habits.quotaBytes > 0,
      () => `${client.name} was rejected`,
    )
    // A creation that is refused because of its first bytes leaves no record.
    const isRefused = client.plan.declares === 'another checksum'
    const isOfPiece = client.plan.protocol === 'join' && client.pieces.some(({ end }) => end === 'gone')
    assertHolds(
      'no upload fails without a reason',
      client.end !== 'gone' || isOfPiece || isRefused || this.#mayFail(mine),
      () => `${client.name} is ${mine?.status}: ${mine?.reason}`,
    )
  }

  /** `file` is undefined for a file without a record, such as one that was still to be joined. */
  #mayFail(file: LedgerFile | undefined): boolean {
    if (this.#world.mayFail || file === undefined) return this.#world.mayFail
    return (
      isStored(file) ||
      file.status === 'canceled' ||
      file.decision === 'rejected' ||
      !this.#isWhatItSays(file) ||
      this.#clientOf(file).plan.declares === 'another checksum' ||
      this.#sent.isCutShort(file)
    )
  }

  #holderOf({ id, fence }: LedgerFile): Host | undefined {
    return this.#world.adopted.get(leaseName(id, fence))
  }

  #clientOf({ filename }: LedgerFile): SimulatedClient {
    const all = this.#world.clients.flatMap((client) => [client, ...client.pieces])
    return all.find(({ name }) => name === filename)!
  }

  /** Always true for a Pipe that does not verify it, and for a client of a directory, which declares no type. */
  #isWhatItSays(file: LedgerFile): boolean {
    const isVerified = this.#world.habits.verifies && this.#clientOf(file).plan.protocol !== 'folder'
    const { signature } = DECLARED
    return !isVerified || this.#sourceOf(file).subarray(0, signature.length).equals(signature)
  }

  #sourceOf(file: LedgerFile): Buffer {
    return this.#clientOf(file).source
  }
}

/** These clients may not learn of a decision. */
const UNTOLD = new Set(['join', 'folder'])

/** These clients cannot declare a checksum. */
const UNDECLARED = new Set(['join', 'folder', 'import'])

/** Describes what a statement has changed. */
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
