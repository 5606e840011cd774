import type { BucketResponse, exchange } from '#lib/buckets/exchange.ts'
import type { Choices } from './choices.ts'
import { NETWORK } from './load-core.ts'
import type { Host, Scheduler } from './scheduler.ts'
import {
  type BucketAnswer,
  type BucketRequest,
  operationOf,
  refusal,
  type SimulatedBucket,
} from './simulated-bucket.ts'
import { currentHost } from './simulated-time.ts'

export type NetworkDeps = {
  scheduler: Scheduler
  choices: Choices
  buckets: ReadonlyMap<string, SimulatedBucket>
  /** The chances of each fate of such a request to this bucket, in the order of `FATES`, with no fault first. */
  weights(bucket: string, operation: string): readonly number[]
  /** Called before a request leaves its node. */
  sending(host: Host, operation: string, request: BucketRequest): void
  /** Called when the bucket has done something. */
  arrived(host: Host, operation: string, request: BucketRequest, answer: BucketAnswer): void
}

/** What can happen to a bucket request. */
export const FATES = [
  'answered',
  'arrives late',
  'answered late',
  'refused with 503',
  'lost',
  'answer lost',
  'answered with 500',
  'answered with an error in a 200',
] as const
/** How a story describes the arrival. */
const ARRIVALS: Partial<Record<Fate, string>> = {
  'arrives late': ' late',
  'refused with 503': ', and refuses it with 503',
  'answer lost': ', and its answer gets lost',
  'answered with 500': ', and answers with 500',
  'answered with an error in a 200': ', and answers with an error in a 200',
}

type Outgoing = Parameters<typeof exchange>[0]
type Fate = (typeof FATES)[number]

/** Possible delays. With 0, only other steps may come first; after the longest, nobody may be waiting any more. */
const LATE_MS = [0, 0, 2_000, 12_000]

/**
 * An abandoned request arrives within this time or never, since Sluice waits a minute before it cleans up after an
 * ended upload.
 */
const ARRIVES_WITHIN_MS = 60_000

let network: Network

/** Makes the bucket client send through the simulated network. Call it once. */
export function replaceNetwork(): void {
  Object.assign(globalThis, { [NETWORK]: (outgoing: Outgoing) => network.exchange(outgoing) })
}

type Sent = {
  host: Host
  operation: string
  label: string
  request: BucketRequest
  sentMs: number
  call: Call
}
type Call = { isOpen: boolean; resolve(answer: BucketResponse): void; reject(error: Error): void }

/** Everything between the nodes and the bucket. */
export class Network {
  readonly #deps: NetworkDeps

  constructor(deps: NetworkDeps) {
    this.#deps = deps
    network = this
  }

  /** Stands in for the bucket client's `exchange`: one request, and its response or a fault. */
  exchange(outgoing: Outgoing): Promise<BucketResponse> {
    const host = currentHost.getStore()!
    const { promise, resolve, reject } = Promise.withResolvers<BucketResponse>()
    const [path, search] = outgoing.path.split('?') as [string, string?]
    const head = { method: outgoing.method, query: new URLSearchParams(search), headers: outgoing.headers }
    const request = {
      ...head,
      bucket: path.split('/')[1]!,
      key: decodeURIComponent(path.split('/').slice(2).join('/')),
      body: Buffer.alloc(0),
    }
    const operation = operationOf(request)
    const number = request.query.get('partNumber')
    const label = `${operation}${number === null ? '' : ` ${number}`} to ${request.bucket}`
    const call: Call = { isOpen: true, resolve, reject }
    const take = this.#deps.scheduler.park({
      actor: host.name,
      label: `sends ${label}`,
      host,
      run: () => this.#send(host, operation, label, request, outgoing, call),
    })
    const end = (code: string, message: string) => {
      call.isOpen = false
      take()
      reject(Object.assign(new Error(message), { code }))
    }
    const abort = () => end('ABORT_ERR', 'The operation was aborted')
    if (outgoing.signal?.aborted) abort()
    outgoing.signal?.addEventListener('abort', abort, { once: true })
    const patienceMs = Math.min(outgoing.silenceMs, outgoing.deadlineMs)
    const timer = setTimeout(() => end('timeout', 'no answer in time'), patienceMs)
    return promise.finally(() => {
      clearTimeout(timer)
      outgoing.signal?.removeEventListener('abort', abort)
    })
  }

  /** The body is copied now, since its sender may reuse the memory once it has given up. */
  async #send(
    host: Host,
    operation: string,
    label: string,
    head: BucketRequest,
    { body }: Outgoing,
    call: Call,
  ): Promise<void> {
    const request = { ...head, body: Buffer.concat(body) }
    this.#deps.sending(host, operation, request)
    const { choices, scheduler } = this.#deps
    const fate = FATES[choices.weighted(this.#deps.weights(head.bucket, operation))]!
    const sent = { host, operation, label, request, sentMs: scheduler.nowMs, call }
    if (fate === 'lost') return this.#reset(sent)
    if (fate === 'answered' || fate === 'answered late') return this.#arrive(sent, fate)
    scheduler.park({
      actor: head.bucket,
      label: `gets ${label.split(' to ')[0]} from node ${host.name}${ARRIVALS[fate] ?? ''}`,
      dueMs: scheduler.nowMs + (fate === 'arrives late' ? choices.pick(LATE_MS) : 0),
      run: () => this.#arrive(sent, fate),
    })
  }

  #arrive(sent: Sent, fate: Fate): void {
    const { call, host, sentMs } = sent
    const isGivenUp = !call.isOpen || host.state === 'dead'
    if (isGivenUp && this.#deps.scheduler.nowMs - sentMs > ARRIVES_WITHIN_MS) return
    const answer = this.#answerOf(sent, fate)
    if (answer === 'lost') this.#reset(sent)
    else if (fate === 'answered late') this.#later(sent, answer, this.#deps.choices.pick(LATE_MS))
    else this.#answer(sent, answer)
  }

  /** Lets the bucket handle the request, and returns its response, or the error that the node gets instead. */
  #answerOf({ operation, request, host }: Sent, fate: Fate): BucketAnswer | 'lost' {
    if (fate === 'refused with 503') return refusal(503, 'SlowDown', 'Reduce your request rate.')
    const answer = this.#deps.buckets.get(request.bucket)!.handle(request)
    this.#deps.arrived(host, operation, request, answer)
    if (fate === 'answer lost') return 'lost'
    if (fate === 'answered with 500') return refusal(500, 'InternalError', 'Try again.')
    const isComplete = operation === 'CompleteMultipartUpload'
    if (fate === 'answered with an error in a 200' && isComplete)
      return refusal(200, 'InternalError', 'Try again.')
    return answer
  }

  #reset({ host, label, call }: Sent): void {
    const run = () => {
      call.isOpen = false
      call.reject(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }))
    }
    this.#deps.scheduler.park({
      actor: host.name,
      label: `loses the connection on which it sent ${label}`,
      host,
      run,
    })
  }

  #later(sent: Sent, answer: BucketAnswer, ms = 0): void {
    const { host, label } = sent
    const { scheduler } = this.#deps
    const run = () => this.#answer(sent, answer)
    scheduler.park({
      actor: host.name,
      label: `gets a late answer to ${label}: ${answer.status}`,
      host,
      dueMs: scheduler.nowMs + ms,
      run,
    })
  }

  #answer(sent: Sent, answer: BucketAnswer): void {
    const { call, host } = sent
    if (!call.isOpen || host.state === 'dead') return
    if (host.state === 'frozen') this.#later(sent, answer)
    else {
      call.isOpen = false
      call.resolve(answer)
    }
  }
}
