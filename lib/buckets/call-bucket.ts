import type { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../platform/kernel/clock.ts'
import { isSluiceError } from '../platform/kernel/errors.ts'
import type { Metrics } from '../platform/metrics.ts'
import { span } from '../platform/tracing/span.ts'
import { BucketError, badResponse, isBucketError, readFault } from './bucket-error.ts'
import { addressOf } from './bucket-place.ts'
import { canonicalQuery, encodePath } from './encode-address.ts'
import { type BucketResponse, exchange, type ResponseMemory } from './exchange.ts'
import type { Identity } from './temporary/federation.ts'
import { NO_TOKEN } from './temporary/request-credentials.ts'

/** One operation on a bucket: signed, sent, counted, and retried after transient errors. */
export type Call = {
  operation: string
  method: 'PUT' | 'POST' | 'GET' | 'HEAD' | 'DELETE'
  key: string
  /** The number of the part that the request sends. */
  part?: number
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: readonly Uint8Array[]
  bytes?: number
  /** Includes the body in the signature. Used for bodies that are small and have no separate checksum. */
  signBody?: boolean
  /** Whether the body of a 200 is the expected response. */
  isValid?: (text: string) => boolean
  /** How many object bytes the response contains. */
  wantedBytes?: number
  silenceMs?: number
  signal?: AbortSignal | undefined
}

export type CallBucket = (call: Call) => Promise<BucketResponse>

/** A request as it is sent, but without credentials. */
export type OutgoingRequest = {
  method: string
  /** The path, encoded as it is sent. */
  path: string
  query: Record<string, string>
  /** Lower-case names, including `host`. */
  headers: Record<string, string>
  body: readonly Uint8Array[]
  signBody: boolean
}

/** Proves to the bucket that a request has the Data Store's credentials. */
export type Authorizer = {
  /** Returns the headers to send. */
  authorize(request: OutgoingRequest): Record<string, string> | Promise<Record<string, string>>
  /** Added to the query of each request. It may be a secret, so only the request itself contains it. */
  query?: Record<string, string>
  /**
   * For temporary credentials: returns true if the bucket rejected those in `headers`. The next request gets others.
   */
  replace?(headers: Record<string, string>, response: BucketResponse): boolean
}

type Place = Parameters<typeof addressOf>[0]

export type BucketDeps = {
  clock: Clock
  agents: { http: Agent; https: Agent }
  /** Undefined for a Data Store that is not saved yet. */
  identity?: Identity
  metrics?: Pick<Metrics, 'bucketRequests' | 'bucketSeconds' | 'bucketBytes'>
  retryDelaysMs?: readonly number[]
  /** The memory account that responses count against. */
  memory?: ResponseMemory
  /** For tests: replaces the silence limit of every call. */
  silenceMs?: number
  deadlineMs?: number
}

const SILENCE_MS = 30_000
/** The time limit for a call with all its retries, in addition to the time that its bytes need. */
const DEADLINE_MS = 30_000
const SLOWEST_BYTES_PER_MS = (256 * 1024) / 1000

export function createCaller(place: Place, authorizer: Authorizer, deps: BucketDeps): CallBucket {
  const send = createSender(place, authorizer, deps)

  const attempt = async (call: Call, deadlineMs: number): Promise<BucketResponse> => {
    const startedAt = performance.now()
    const { operation } = call
    let outcome = 'ok'
    try {
      const response = judge(call, place.bucket, await send(call, deadlineMs))
      deps.metrics?.bucketBytes.inc({ operation }, call.bytes ?? 0)
      return response
    } catch (error) {
      outcome = 'trouble'
      // Sluice itself could not prove who the Data Store is, so the bucket is not to blame.
      if (isSluiceError(error) && error.status >= 500) throw error
      const fault = isBucketError(error) ? error : noResponse(operation, place.bucket, error)
      outcome = fault.kind
      throw fault
    } finally {
      deps.metrics?.bucketRequests.inc({ operation, outcome })
      deps.metrics?.bucketSeconds.observe({ operation }, (performance.now() - startedAt) / 1000)
    }
  }
  return (call) => {
    const endsAt = performance.now() + (deps.deadlineMs ?? deadlineOf(call))
    const leftMs = () => endsAt - performance.now()
    return withRetries(() => traced(call, () => attempt(call, leftMs())), {
      delaysMs: deps.retryDelaysMs ?? RETRY_DELAYS_MS,
      signal: call.signal,
      // An operation that may be silent for minutes is not retried after a timeout: its caller tries again later.
      mayRepeat: ({ code }, delayMs) => delayMs < leftMs() && !(code === 'timeout' && call.silenceMs),
    })
  }
}

/** Sends a request once, or twice if the bucket rejects temporary credentials that can be replaced. */
function createSender(
  place: Place,
  authorizer: Authorizer,
  deps: BucketDeps,
): (call: Call, deadlineMs: number) => Promise<BucketResponse> {
  const { base, host, prefix } = addressOf(place)
  const agent = base.protocol === 'https:' ? deps.agents.https : deps.agents.http

  return async (call, deadlineMs) => {
    const body = call.body ?? []
    const path = encodePath(call.key ? `${prefix}/${call.key}` : prefix || '/')
    const query = { ...call.query, ...authorizer.query }
    const unsigned = {
      method: call.method,
      path,
      query,
      headers: { host, 'content-length': String(call.bytes ?? 0), ...call.headers },
      body,
      signBody: call.signBody ?? false,
    }
    const search = canonicalQuery(query)
    const send = (headers: Record<string, string>) =>
      exchange({
        url: base,
        agent,
        method: call.method,
        path: search ? `${path}?${search}` : path,
        headers,
        body,
        wantedBytes: call.wantedBytes,
        silenceMs: deps.silenceMs ?? call.silenceMs ?? SILENCE_MS,
        deadlineMs,
        memory: deps.memory,
        signal: call.signal,
      })
    const headers = await authorizer.authorize(unsigned)
    const response = await send(headers)
    if (!authorizer.replace?.(headers, response)) return response
    return send(await authorizer.authorize(unsigned))
  }
}

/** Creates a span for each attempt, so that a slow bucket looks different from a failing one. */
function traced(call: Call, attempt: () => Promise<BucketResponse>): Promise<BucketResponse> {
  return span(`bucket ${call.operation}`, attempt, {
    kind: 'client',
    attributes: () => ({ 'sluice.part': call.part, 'sluice.bytes': call.bytes }),
  })
}

/**
 * A bucket that responds one byte at a time is never silent. Without a deadline, it could occupy a part's memory
 * forever.
 */
function deadlineOf({ bytes = 0, wantedBytes = 0, silenceMs = 0 }: Call): number {
  return silenceMs + DEADLINE_MS + (bytes + wantedBytes) / SLOWEST_BYTES_PER_MS
}

/** S3 may respond to CompleteMultipartUpload and UploadPartCopy with 200 before it finds an error. */
function judge(call: Call, bucket: string, response: BucketResponse): BucketResponse {
  const failed = response.status < 200 || response.status >= 300
  const late = !failed && call.method !== 'GET' && response.body.includes('<Error>')
  const text = failed || late || call.isValid ? response.body.toString('utf8') : ''
  if (failed || late) throw readFault(call.operation, bucket, response.status, text, response.headers)
  if (call.isValid?.(text) === false) throw badResponse(call.operation)
  return response
}

function noResponse(operation: string, bucket: string, error: unknown): BucketError {
  const cause = { cause: error }
  if (isSluiceError(error)) return new BucketError('refused', error.code, error.message, cause)
  const code = (error as NodeJS.ErrnoException).code ?? 'failed'
  if (code === 'ABORT_ERR') return new BucketError('aborted', 'aborted', `${operation} was aborted.`, cause)
  // Node refuses to send the request, and a retry would not change that.
  const kind = UNSENDABLE.has(code) ? 'impossible' : 'trouble'
  return new BucketError(kind, code, `${operation} on the bucket ${bucket} got no response (${code}).`, cause)
}

const UNSENDABLE = new Set(['ERR_INVALID_CHAR', 'ERR_HTTP_INVALID_HEADER_VALUE', 'ERR_UNESCAPED_CHARACTERS'])

/**
 * How long to wait before each retry. A quarter of the time is random, so that retries do not all arrive at the same
 * time.
 */
const RETRY_DELAYS_MS: readonly number[] = [100, 400, 1200, 3000]

type RetryOptions = {
  delaysMs: readonly number[]
  signal?: AbortSignal | undefined
  mayRepeat?: (error: BucketError, delayMs: number) => boolean
  random?: () => number
}

/** Retries after transient errors. `attempt` gets the number of previous attempts. */
export async function withRetries<Result>(
  attempt: (earlier: number) => Promise<Result>,
  { delaysMs, signal, mayRepeat = () => true, random = Math.random }: RetryOptions,
): Promise<Result> {
  let unsent = 0
  for (let earlier = 0; ; earlier++) {
    if (signal?.aborted) throw givenUp(signal)
    try {
      return await attempt(earlier)
    } catch (error) {
      if (signal?.aborted) throw givenUp(signal)
      const delayMs = delaysMs[earlier]
      if (isBucketError(error)) {
        if (error.code === NO_TOKEN) unsent += 1
        error.attempts = earlier + 1 - unsent
      }
      if (
        delayMs === undefined ||
        !isBucketError(error) ||
        error.kind !== 'trouble' ||
        !mayRepeat(error, delayMs)
      )
        throw error
      await sleep(delayMs * (0.75 + random() / 4), undefined, { signal }).catch(() => {})
    }
  }
}

function givenUp(signal: AbortSignal): BucketError {
  return new BucketError('aborted', 'aborted', 'The request to the bucket was aborted.', {
    cause: signal.reason,
  })
}
