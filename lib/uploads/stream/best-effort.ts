import { bucketFault } from '../bucket-port.ts'
import { recordDestinationFailure } from '../ledger/destinations.ts'
import { recordLateEtags } from '../ledger/parts.ts'
import type { Destination, Upload } from '../opening/upload.ts'
import { failureOf } from '../rules/faults.ts'
import type { Failure } from '../rules/file-status.ts'
import { inBackground, type UploadContext } from '../upload-context.ts'
import type { Delivery } from './delivery.ts'
import { type Outgoing, Sender } from './sender.ts'

/**
 * Sends parts to a destination that is not required. Its first fault gives it up: it gets no more bytes. Nothing that happens
 * here reaches the client.
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

  /** Resolves when it no longer needs the bytes: it has them, was given up, or the part does not count. */
  async offer(part: Outgoing): Promise<void> {
    const { delivery } = part
    if (!this.destination.isOpen) return
    try {
      const etag = await this.#sender.put(part, AbortSignal.any([delivery.signal, this.#givenUp.signal]))
      if (!delivery.reached(this.destination, etag)) this.#recordLate(delivery, etag)
    } catch (fault) {
      if (delivery.signal.aborted) return
      if (bucketFault(fault)) return this.giveUp(failureOf(fault))
      // The request ended before the part was sent here, which matters only if the part counts all the same.
      void delivery.recorded.then(() => this.giveUp({ reason: 'fell_behind', detail: null }))
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

  /** What arrives while a statement runs goes with the next one. */
  #recordLate(delivery: Delivery, etag: string): void {
    const recording = delivery.recorded.then(() => {
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
