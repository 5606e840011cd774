import { type Body, bucketFault } from '../bucket-port.ts'
import { recordLateEtags } from '../ledger/part-rows.ts'
import { recordDestinationFailure } from '../ledger/transferred.ts'
import type { Destination, Upload } from '../opening/upload.ts'
import { failureOf } from '../rules/faults.ts'
import type { Failure } from '../rules/file-status.ts'
import { inBackground, type UploadContext } from '../upload-context.ts'
import { beginMultipart } from './begin-multipart.ts'
import { Delivery } from './delivery.ts'
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
  readonly #unrecorded = new Set<Delivery>()
  /** Parts that only best-effort destinations still need, oldest first. */
  readonly #trailing = new Set<Delivery>()

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

  send(number: number, body: Body, tail: LeadingTail, bound: Promise<void>): Delivery {
    const { fromBytes, toBytes } = tail
    const delivery = new Delivery(number, this.#upload.destinations.length)
    this.#unrecorded.add(delivery)
    void delivery.recorded.then((isRecorded) => isRecorded && this.#unrecorded.delete(delivery))
    const toAll = (whole: Body) => this.#toAll(delivery, whole, bound)
    const stretch = { fromBytes, toBytes, body, signal: this.#signal }
    const sending =
      fromBytes === toBytes
        ? toAll(body)
        : tail.stored.then(() => withTail(this.#context, this.#upload, stretch, toAll))
    sending.catch((fault: unknown) => delivery.fail(fault))
    return delivery
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
    for (const delivery of this.#unrecorded) delivery.fail(this.#aborted.signal.reason)
  }

  async #toAll(delivery: Delivery, body: Body, bound: Promise<void>): Promise<void> {
    const part = { delivery, body, bound }
    const pending = new Set(this.#bestEffort)
    const offers = this.#bestEffort.map((one) => one.offer(part).finally(() => pending.delete(one)))
    await Promise.all(
      this.#required.map(async (sender) =>
        delivery.reached(sender.destination, await sender.put(part, this.#signal)),
      ),
    )
    const trailing = pending.size > 0 ? this.#trail(delivery, { body, pending, offers }) : undefined
    delivery.acknowledge(body.crc32, trailing)
    await trailing
  }

  /**
   * Keeps the bytes for best-effort destinations that lag behind. If that takes more memory than they may use, or too
   * long, those that still need the oldest part are abandoned.
   */
  async #trail(
    delivery: Delivery,
    { body, pending, offers }: { body: Body; pending: Set<BestEffort>; offers: Promise<void>[] },
  ): Promise<void> {
    const { budget, terms } = this.#context
    const giveUp = () => {
      for (const one of pending) one.giveUp({ reason: 'fell_behind', detail: null })
    }
    delivery.onTooMuch = giveUp
    this.#trailing.add(delivery)
    const giveBack = budget.trailing.take(this.#upload.workspaceId, body.bytes)
    if (budget.trailing.isTooMuch(this.#upload.workspaceId)) this.#trailing.values().next().value!.onTooMuch()
    const timer = setTimeout(giveUp, terms.trailMs)
    await Promise.all(offers)
    clearTimeout(timer)
    giveBack()
    this.#trailing.delete(delivery)
  }
}

/**
 * Sends parts to a best-effort destination. The destination is abandoned at its first fault, and gets no more bytes.
 * The client does not notice.
 */
export class BestEffort {
  readonly destination: Destination
  readonly #context: UploadContext
  readonly #upload: Upload
  readonly #sender: Sender
  readonly #givenUp = new AbortController()
  #late: { number: number; etag: string }[] = []
  #recordingLate: Promise<void> | undefined

  constructor(context: UploadContext, upload: Upload, destination: Destination) {
    this.#context = context
    this.#upload = upload
    this.destination = destination
    this.#sender = new Sender(context, upload, destination)
  }

  /**
   * Resolves when the destination no longer needs the bytes: it has them, was abandoned, or the part is not recorded.
   */
  async offer(part: Outgoing): Promise<void> {
    const { delivery } = part
    if (!this.destination.isOpen) return
    try {
      const etag = await this.#sender.put(part, AbortSignal.any([delivery.signal, this.#givenUp.signal]))
      if (!delivery.reached(this.destination, etag)) this.#recordLate(delivery, etag)
    } catch (fault) {
      if (delivery.signal.aborted) return
      if (bucketFault(fault)) return this.giveUp(failureOf(fault))
      // The request ended before the part was sent to this destination. That only matters if the part was still
      // recorded.
      void delivery.recorded.then(
        (isRecorded) => isRecorded && this.giveUp({ reason: 'fell_behind', detail: null }),
      )
    }
  }

  giveUp(failure: Failure): void {
    const { destination } = this
    if (!destination.isOpen) return
    destination.close()
    this.#givenUp.abort()
    const { db, clock, metrics } = this.#context
    metrics.destinationsFailed.inc({ reason: failure.reason })
    const to = { fileId: this.#upload.fileId, dataStoreId: destination.dataStoreId }
    inBackground(this.#context, recordDestinationFailure(db, to, failure, clock.now()))
  }

  responded(): Promise<void> {
    return this.#sender.responded()
  }

  close(): void {
    this.#sender.close()
  }

  /** ETags that arrive while a statement runs go into the next one. */
  #recordLate(delivery: Delivery, etag: string): void {
    const recording = delivery.recorded.then((isRecorded) => {
      if (!isRecorded) return
      this.#late.push({ number: delivery.number, etag })
      this.#recordingLate ??= this.#recordAllLate().finally(() => {
        this.#recordingLate = undefined
      })
      return this.#recordingLate
    })
    inBackground(this.#context, recording)
  }

  async #recordAllLate(): Promise<void> {
    const { dataStoreId, position, multipartId } = this.destination
    const to = { fileId: this.#upload.fileId, dataStoreId, position, multipartId: multipartId! }
    while (this.#late.length > 0) await recordLateEtags(this.#context.db, to, this.#late.splice(0))
  }
}

/** A part to send: its bytes, and a promise that resolves when its number is bound to their range. */
export type Outgoing = { delivery: Delivery; body: Body; bound: Promise<void> }

/** Sends parts to one destination concurrently, each as soon as its number is bound to its range. */
export class Sender {
  readonly destination: Destination
  readonly #context: UploadContext
  readonly #upload: Upload
  readonly #sending = new Set<Promise<unknown>>()
  #multipart: Promise<string> | undefined
  #isClosed = false

  constructor(context: UploadContext, upload: Upload, destination: Destination) {
    this.#context = context
    this.#upload = upload
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

  async #put({ delivery, body, bound }: Outgoing, signal: AbortSignal): Promise<string> {
    const { number } = delivery
    const { lease, numbers } = this.#upload
    const { bucket, key } = this.destination
    this.#multipart ??= this.#openMultipart()
    const [multipartId] = await Promise.all([this.#multipart, bound])
    // Once the part is in the ledger, its number stays bound to these bytes, no matter who writes the file later.
    if (!delivery.isRecorded) lease.assertHeld()
    if (this.#isClosed && !delivery.isRecorded) throw new Error('The request ended before the part was sent.')
    numbers.markSent(number)
    const { etag } = await bucket.uploadPart({ key, multipartId, number }, body, { signal })
    this.#context.checkpoint('part sent')
    return etag
  }

  async #openMultipart(): Promise<string> {
    const { destination } = this
    if (destination.multipartId) return destination.multipartId
    const { bucket, target, dataStoreId } = destination
    const { lease } = this.#upload
    const id = await beginMultipart(this.#context, { bucket, target, dataStoreId, lease })
    destination.multipartBegun(id)
    return id
  }
}
