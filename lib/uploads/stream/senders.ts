import type { Body } from '../bucket-port.ts'
import type { Upload } from '../opening/upload.ts'
import type { UploadContext } from '../upload-context.ts'
import { BestEffort } from './best-effort.ts'
import { Delivery } from './delivery.ts'
import { Sender } from './sender.ts'
import { withTail } from './tails.ts'

/** The tail that a part begins with. It is empty if `fromBytes` equals `toBytes`. */
type LeadingTail = { fromBytes: number; toBytes: number; stored: Promise<void> }

/**
 * Sends each part to all destinations, from one buffer. It counts once every required destination has it. Those of best
 * effort neither delay nor fail it: they may keep its bytes in memory for a while, and are given up after that.
 */
export class Senders {
  readonly #context: UploadContext
  readonly #upload: Upload
  readonly #required: readonly Sender[]
  readonly #bestEffort: readonly BestEffort[]
  readonly #aborted = new AbortController()
  readonly #signal: AbortSignal
  readonly #unrecorded = new Set<Delivery>()
  /** Parts that only destinations of best effort still need, the oldest first. */
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
    void delivery.recorded.then(() => this.#unrecorded.delete(delivery))
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

  /** Parts that are still waiting are not sent, since their numbers may now be bound to other ranges. */
  close(): void {
    for (const one of [...this.#required, ...this.#bestEffort]) one.close()
  }

  /** Aborts what is not recorded. Of what is, those of best effort may lack some, and still get it. */
  abort(): void {
    this.close()
    // An abort makes an exception with its stack, which a small file would pay for.
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
   * Keeps the bytes for destinations of best effort that lag behind. If that takes more memory than they may have, or too long,
   * those that still need the oldest part are given up.
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
