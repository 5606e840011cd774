import type { Operation } from './request.ts'

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
  /** An error inside this server: a bug, or a full disk. */
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
