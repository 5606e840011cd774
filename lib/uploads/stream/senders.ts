import { type Body, bucketFault } from '../bucket-port.ts'
import { recordLateEtags } from '../ledger/part-rows.ts'
import { recordDestinationFailure } from '../ledger/transferred.ts'
import type { Destination, Upload } from '../opening/upload.ts'
import { failureOf } from '../rules/faults.ts'
import { type Failure, FELL_BEHIND } from '../rules/file-status.ts'
import { inBackground, type UploadContext } from '../upload-context.ts'
import { beginMultipart } from './begin-multipart.ts'
import { PartInFlight } from './part-in-flight.ts'
import { withTail } from './tails.ts'

/** The tail at the start of a part. It is empty if `fromBytes` equals `toBytes`. */
type LeadingTail = { fromBytes: number; toBytes: number; stored: Promise<void> }

/**
 * Sends each part to all destinations, from one buffer. A part is acknowledged once every required destination has it.
 * Best-effort destinations neither delay nor fail a part: they may keep its bytes in memory for a while, and are
 * abandoned after that.
 */
export class Senders {
  readonly #context: UploadContext
  readonly #upload: Upload
  readonly #required: readonly Sender[]
  readonly #bestEffort: readonly BestEffort[]
  readonly #aborted = new AbortController()
  readonly #signal: AbortSignal
  readonly #unrecorded = new Set<PartInFlight>()
  /** Parts that only best-effort destinations still need, oldest first. */
  readonly #trailing = new Set<PartInFlight>()

  constructor(context: UploadContext, upload: Upload) {
    this.#context = context
    this.#upload = upload
    const { destinations, lease } = upload
    const [required, bestEffort] = [true, false].map((kind) =>
      destinations.filter((one) => one.isOpen && one.required === kind),
    )
    this.#required = required!.map((one) => new Sender(context, upload, one))
    this.#bestEffort = bestEffort!.map((one) => new BestEffort(context, upload, one))
    this.#signal = AbortSignal.any([lease.signal, this.#aborted.signal])
  }

  send(number: number, body: Body, tail: LeadingTail, bound: Promise<void>): PartInFlight {
    const { fromBytes, toBytes } = tail
    const inFlight = new PartInFlight(number, this.#upload.destinations.length)
    this.#unrecorded.add(inFlight)
    void inFlight.recorded.then((isRecorded) => isRecorded && this.#unrecorded.delete(inFlight))
    const toAll = (whole: Body) => this.#toAll(inFlight, whole, bound)
    const stretch = { fromBytes, toBytes, body, signal: this.#signal }
    const sending =
      fromBytes === toBytes
        ? toAll(body)
        : tail.stored.then(() => withTail(this.#context, this.#upload, stretch, toAll))
    sending.catch((fault: unknown) => inFlight.fail(fault))
    return inFlight
  }

  /** Resolves when the buckets have responded to every request. */
  async responded(): Promise<void> {
    await Promise.all([...this.#required, ...this.#bestEffort].map((one) => one.responded()))
  }

  /** Parts that are still waiting will not be sent, because their numbers may have been bound to other ranges. */
  close(): void {
    for (const one of [...this.#required, ...this.#bestEffort]) one.close()
  }

  /** Aborts unrecorded parts. Best-effort destinations that are missing recorded parts still get them. */
  abort(): void {
    this.close()
    // An abort creates an exception with a stack trace, which is too slow for small files.
    if (this.#unrecorded.size === 0) return
    this.#aborted.abort()
    for (const inFlight of this.#unrecorded) inFlight.fail(this.#aborted.signal.reason)
  }

  async #toAll(inFlight: PartInFlight, body: Body, bound: Promise<void>): Promise<void> {
    const part = { inFlight, body, bound }
    const pending = new Set(this.#bestEffort)
    const offers = this.#bestEffort.map((one) => one.offer(part).finally(() => pending.delete(one)))
    await Promise.all(
      this.#required.map(async (sender) =>
        inFlight.reached(sender.destination, await sender.put(part, this.#signal)),
      ),
    )
    const trailing = pending.size > 0 ? this.#trail(inFlight, { body, pending, offers }) : undefined
    inFlight.acknowledge(body.crc32, trailing)
    await trailing
  }

  /**
   * Keeps the bytes for best-effort destinations that lag behind. If that takes more memory than they may use, or too
   * long, those that still need the oldest part are abandoned.
   */
  async #trail(
    inFlight: PartInFlight,
    { body, pending, offers }: { body: Body; pending: Set<BestEffort>; offers: Promise<void>[] },
  ): Promise<void> {
    const { budget, terms } = this.#context
    const giveUp = () => {
      for (const one of pending) one.giveUp(FELL_BEHIND)
    }
    inFlight.onTooMuch = giveUp
    this.#trailing.add(inFlight)
    const giveBack = budget.trailing.take(this.#upload.workspaceId, body.bytes)
    if (budget.trailing.isTooMuch(this.#upload.workspaceId)) this.#trailing.values().next().value!.onTooMuch()
    const timer = setTimeout(giveUp, terms.trailMs)
    await Promise.all(offers)
    clearTimeout(timer)
    giveBack()
    this.#trailing.delete(inFlight)
  }
}

/** A part to send: its bytes, and a promise that resolves when its number is bound to their range. */
type Outgoing = { inFlight: PartInFlight; body: Body; bound: Promise<void> }

/** Sends parts to one destination concurrently, each as soon as its number is bound to its range. */
class Sender {
  readonly destination: Destination
  protected readonly context: UploadContext
  protected readonly upload: Upload
  readonly #sending = new Set<Promise<unknown>>()
  #multipart: Promise<string> | undefined
  #isClosed = false

  constructor(context: UploadContext, upload: Upload, destination: Destination) {
    this.context = context
    this.upload = upload
    this.destination = destination
  }

  /** Returns the ETag of the part. */
  put(part: Outgoing, signal: AbortSignal): Promise<string> {
    const putting = this.#put(part, signal)
    this.#sending.add(putting)
    const ended = () => void this.#sending.delete(putting)
    putting.then(ended, (fault: unknown) => {
      this.destination.failedWith(fault)
      ended()
    })
    return putting
  }

  /** Resolves when the bucket has responded to every request. */
  async responded(): Promise<void> {
    await Promise.allSettled(this.#sending)
  }

  /** Parts that are still waiting will not be sent, because their numbers may have been bound to other ranges. */
  close(): void {
    this.#isClosed = true
  }

  async #put({ inFlight, body, bound }: Outgoing, signal: AbortSignal): Promise<string> {
    const { number } = inFlight
    const { lease, numbers } = this.upload
    const { bucket, key } = this.destination
    this.#multipart ??= this.#openMultipart()
    const [multipartId] = await Promise.all([this.#multipart, bound])
    // Once the part is in the ledger, its number stays bound to these bytes, no matter who writes the file later.
    if (!inFlight.isRecorded) lease.assertHeld()
    if (this.#isClosed && !inFlight.isRecorded) throw new Error('The request ended before the part was sent.')
    numbers.markSent(number)
    const { etag } = await bucket.uploadPart({ key, multipartId, number }, body, { signal })
    this.context.checkpoint('part sent')
    return etag
  }

  async #openMultipart(): Promise<string> {
    const { destination } = this
    if (destination.multipartId) return destination.multipartId
    const { bucket, target, dataStoreId } = destination
    const { lease } = this.upload
    const id = await beginMultipart(this.context, { bucket, target, dataStoreId, lease })
    destination.multipartBegun(id)
    return id
  }
}

/**
 * Sends parts to a best-effort destination. The destination is abandoned at its first fault, and gets no more bytes.
 * The client does not notice.
 */
class BestEffort extends Sender {
  readonly #givenUp = new AbortController()
  #late: { number: number; etag: string }[] = []
  #recordingLate: Promise<void> | undefined

  /**
   * Resolves when the destination no longer needs the bytes: it has them, was abandoned, or the part is not recorded.
   */
  async offer(part: Outgoing): Promise<void> {
    const { inFlight } = part
    if (!this.destination.isOpen) return
    try {
      const etag = await this.put(part, AbortSignal.any([inFlight.signal, this.#givenUp.signal]))
      if (!inFlight.reached(this.destination, etag)) this.#recordLate(inFlight, etag)
    } catch (fault) {
      if (inFlight.signal.aborted) return
      if (bucketFault(fault)) return this.giveUp(failureOf(fault))
      // The request ended before the part was sent to this destination. That only matters if the part was still
      // recorded.
      void inFlight.recorded.then((isRecorded) => isRecorded && this.giveUp(FELL_BEHIND))
    }
  }

  giveUp(failure: Failure): void {
    const { destination } = this
    if (!destination.isOpen) return
    destination.close()
    this.#givenUp.abort()
    const { db, clock, metrics } = this.context
    metrics.destinationsFailed.inc({ reason: failure.reason })
    const to = { fileId: this.upload.fileId, dataStoreId: destination.dataStoreId }
    inBackground(this.context, recordDestinationFailure(db, to, failure, clock.now()))
  }

  /** ETags that arrive while a statement runs go into the next one. */
  #recordLate(inFlight: PartInFlight, etag: string): void {
    const recording = inFlight.recorded.then((isRecorded) => {
      if (!isRecorded) return
      this.#late.push({ number: inFlight.number, etag })
      this.#recordingLate ??= this.#recordAllLate().finally(() => {
        this.#recordingLate = undefined
      })
      return this.#recordingLate
    })
    inBackground(this.context, recording)
  }

  async #recordAllLate(): Promise<void> {
    const { dataStoreId, position, multipartId } = this.destination
    const to = { fileId: this.upload.fileId, dataStoreId, position, multipartId: multipartId! }
    while (this.#late.length > 0) await recordLateEtags(this.context.db, to, this.#late.splice(0))
  }
}
