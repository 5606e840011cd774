import type { Body } from '../bucket-port.ts'
import type { Upload } from '../opening/upload.ts'
import type { UploadContext } from '../upload-context.ts'
import { beginMultipart } from './begin-multipart.ts'
import { withTail } from './tails.ts'

export type SentPart = { etag: string; crc32: number }

/** The tail that a part begins with. It is empty if `fromBytes` equals `toBytes`. */
type LeadingTail = { fromBytes: number; toBytes: number; stored: Promise<void> }

/** Sends parts to the bucket concurrently, each as soon as its number is bound to its range. */
export class Sender {
  readonly #context: UploadContext
  readonly #upload: Upload
  readonly #aborted = new AbortController()
  readonly #signal: AbortSignal
  readonly #sending = new Set<Promise<unknown>>()
  #multipart: Promise<string> | undefined
  #isClosed = false

  constructor(context: UploadContext, upload: Upload) {
    this.#context = context
    this.#upload = upload
    this.#signal = AbortSignal.any([upload.lease.signal, this.#aborted.signal])
  }

  send(number: number, body: Body, tail: LeadingTail, bound: Promise<void>): Promise<SentPart> {
    const { fromBytes, toBytes } = tail
    const put = (whole: Body) => this.#put(number, whole, bound)
    const stretch = { fromBytes, toBytes, body, signal: this.#signal }
    const sending =
      fromBytes === toBytes
        ? put(body)
        : tail.stored.then(() => withTail(this.#context, this.#upload, stretch, put))
    this.#sending.add(sending)
    const ended = () => void this.#sending.delete(sending)
    sending.then(ended, ended)
    return sending
  }

  /** Resolves when every request to the bucket has ended. */
  async responded(): Promise<void> {
    await Promise.allSettled(this.#sending)
  }

  /** Parts that are still waiting are not sent, since their numbers may now be bound to other ranges. */
  close(): void {
    this.#isClosed = true
  }

  abort(): void {
    this.close()
    // An abort makes an exception with its stack, which a small file would pay for.
    if (this.#sending.size > 0) this.#aborted.abort()
  }

  async #put(number: number, body: Body, bound: Promise<void>): Promise<SentPart> {
    const { lease, numbers, destination } = this.#upload
    const { bucket, key } = destination
    this.#multipart ??= this.#openMultipart()
    const [multipartId] = await Promise.all([this.#multipart, bound])
    lease.assertHeld()
    if (this.#isClosed) throw new Error('The request ended before the part was sent.')
    numbers.markSent(number)
    const { etag } = await bucket.uploadPart({ key, multipartId, number }, body, { signal: this.#signal })
    this.#context.checkpoint('part sent')
    return { etag, crc32: body.crc32 }
  }

  async #openMultipart(): Promise<string> {
    const { destination, lease } = this.#upload
    if (destination.multipartId) return destination.multipartId
    const { bucket, key, contentType } = destination
    const id = await beginMultipart(this.#context, { bucket, target: { key, contentType }, lease })
    destination.multipartBegun(id)
    return id
  }
}
