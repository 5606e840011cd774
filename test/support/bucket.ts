import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Answer } from '#packages/local-bucket/answer.ts'
import type { Interceptor } from '#packages/local-bucket/call.ts'
import type { Operation, S3Request } from '#packages/local-bucket/request.ts'
import { S3Error } from '#packages/local-bucket/s3-error.ts'
import { type LocalBucket, type LocalBucketOptions, startLocalBucket } from '#packages/local-bucket/start.ts'
import { Faults, Strikes } from './bucket-faults.ts'
import { type RuleName, rulesOf } from './bucket-rules.ts'

/** The local bucket, which also fails as planned, follows providers' rules, and records its requests. */
export interface Bucket extends LocalBucket {
  faults: Faults
  traffic: Traffic
  /** Takes effect with the next request. */
  rules: Set<RuleName>
}

export type BucketOptions = Omit<LocalBucketOptions, 'interceptor'> & {
  /** Providers' rules, in addition to those of S3. */
  rules?: readonly RuleName[] | undefined
}

export async function startBucket({ rules: given, ...options }: BucketOptions): Promise<Bucket> {
  const [faults, traffic, rules] = [new Faults(), new Traffic(), new Set(given)]
  const interceptor = intercept(faults, traffic, rules)
  return { ...(await startLocalBucket({ ...options, interceptor })), faults, traffic, rules }
}

function intercept(faults: Faults, traffic: Traffic, names: ReadonlySet<RuleName>): Interceptor {
  const arrived = new WeakMap<S3Request, SeenRequest>()
  return {
    async around(request, exchange, next) {
      const seen = arrival(request)
      arrived.set(request, seen)
      traffic.note(seen)
      const strikes = new Strikes(faults, exchange, request)
      await strikes.at('request')
      const rules = rulesOf(names)
      const performed = await next(strikes.body()).catch((error) => {
        if (!(error instanceof S3Error)) throw error
        throw rules.reduce((said, rule) => rule.rephrase?.(said, request) ?? said, error)
      })
      const answer = rules.reduce((told: Answer, rule) => rule.answer?.(told, request) ?? told, performed)
      try {
        await strikes.at('answer')
      } catch (error) {
        if (answer.body instanceof Readable) answer.body.destroy()
        throw error
      }
      return answer
    },
    async admit(call) {
      const rules = rulesOf(names)
      for (const name of rules.flatMap((rule) => rule.ignores ?? [])) delete call.request.headers[name]
      for (const rule of rules) await rule.admit?.(call)
      return rules.find((rule) => rule.instead)?.instead?.()
    },
    assemble(parts, upload) {
      for (const rule of rulesOf(names)) rule.assemble?.(parts, upload)
    },
    ended(request, answer, trouble) {
      const outcome = answer
        ? ({ state: 'answered', status: answer.status, code: answer.code } as const)
        : ({ state: 'cut' } as const)
      traffic.note({ ...arrived.get(request)!, ...outcome, trouble })
    },
  }
}

function arrival({ operation, bucket, key, query }: S3Request): SeenRequest {
  return {
    id: randomUUID(),
    operation,
    bucket,
    key,
    partNumber: query.has('partNumber') ? Number(query.get('partNumber')) : undefined,
    uploadId: query.get('uploadId') ?? undefined,
    state: 'arrived',
    status: undefined,
    code: undefined,
    trouble: undefined,
  }
}

/** A request that has arrived, and its outcome once it has ended. */
export interface SeenRequest {
  id: string
  operation: Operation
  bucket: string
  key: string
  partNumber: number | undefined
  uploadId: string | undefined
  state: 'arrived' | 'answered' | 'cut'
  /** Set once the response is known. */
  status: number | undefined
  /** The S3 error code, if the response was an error. */
  code: string | undefined
  /** An error inside the bucket: a bug, or a full disk. */
  trouble: unknown
}

export type TrafficFilter = Partial<
  Pick<SeenRequest, 'operation' | 'key' | 'partNumber' | 'state' | 'status'>
>

const KEPT = 1000

/** Records requests to the bucket, so that a test can await them and a benchmark can count them. */
export class Traffic {
  readonly #counts = new Map<Operation, number>()
  readonly #listeners = new Set<(request: SeenRequest) => void>()
  readonly #seen = new Map<string, SeenRequest>()

  /** How often each operation was called, including refused calls. */
  counts(): Partial<Record<Operation, number>> {
    return Object.fromEntries(this.#counts)
  }

  /** The last thousand requests, oldest first. */
  seen(filter: TrafficFilter = {}): SeenRequest[] {
    return [...this.#seen.values()].filter((request) => fits(request, filter))
  }

  /** Calls the listener whenever a request arrives or ends. */
  listen(listener: (request: SeenRequest) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Resolves as soon as `count` requests match; immediately if they already do. */
  async until(filter: TrafficFilter, count = 1): Promise<SeenRequest> {
    const { promise, resolve } = Promise.withResolvers<SeenRequest>()
    const look = () => {
      const fitting = this.seen(filter)
      if (fitting.length >= count) resolve(fitting[count - 1]!)
    }
    const unlisten = this.listen(look)
    look()
    return promise.finally(unlisten)
  }

  note(request: SeenRequest): void {
    if (!this.#seen.has(request.id)) {
      this.#counts.set(request.operation, (this.#counts.get(request.operation) ?? 0) + 1)
    }
    this.#seen.set(request.id, request)
    if (this.#seen.size > KEPT) this.#seen.delete(this.#seen.keys().next().value!)
    for (const listener of this.#listeners) listener(request)
  }
}

function fits(request: SeenRequest, filter: TrafficFilter): boolean {
  return Object.entries(filter).every(([name, value]) => request[name as keyof TrafficFilter] === value)
}
