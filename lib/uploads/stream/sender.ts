import type { Body } from '../bucket-port.ts'
import type { Destination, Upload } from '../opening/upload.ts'
import type { UploadContext } from '../upload-context.ts'
import { beginMultipart } from './begin-multipart.ts'
import type { Delivery } from './delivery.ts'

/** A part as it is sent: its bytes, and the promise that its number is bound to their range. */
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

  /** Parts that are still waiting are not sent, since their numbers may now be bound to other ranges. */
  close(): void {
    this.#isClosed = true
  }

  async #put({ delivery, body, bound }: Outgoing, signal: AbortSignal): Promise<string> {
    const { number } = delivery
    const { lease, numbers } = this.#upload
    const { bucket, key } = this.destination
    this.#multipart ??= this.#openMultipart()
    const [multipartId] = await Promise.all([this.#multipart, bound])
    // Once the part is in the ledger, its number stays bound to these bytes, whoever writes the file by then.
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
