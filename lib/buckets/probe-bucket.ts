import { S3Client } from '@aws-sdk/client-s3'
import type { Clock } from '../kernel/clock.ts'
import { createGuardedAgents } from '../net/guarded-agents.ts'
import { resolveHost } from '../net/resolve-host.ts'
import { boundAnswers } from './bound-answers.ts'
import { explainRefusal, type Refusal, unresolved } from './explain-refusal.ts'
import { ProbeOperations } from './probe-operations.ts'
import { type ProbePlace, probeHost } from './probe-place.ts'

/**
 * Tries on a real bucket each operation that Sluice makes use of. It leaves no unfinished multipart upload, and
 * one empty object where the keys may not delete, always under the same key.
 */
export type ProbedOperation = { name: string; ok: boolean; needed: boolean; message: string }

export type Probe = {
  operations: ProbedOperation[]
  mayAbort: boolean
  mayRead: boolean
  mayDelete: boolean
}

export type ProbeOptions = { allowedPrivateHosts: string[]; clock: Clock; timeoutMs?: number }

/** All of it together; a bucket that is well answers within one second. */
const TIMEOUT_MS = 9000

export async function probeBucket(place: ProbePlace, options: ProbeOptions): Promise<Probe> {
  const { allowedPrivateHosts, clock, timeoutMs = TIMEOUT_MS } = options
  const agents = createGuardedAgents(allowedPrivateHosts, { agent: { keepAlive: false } })
  const deadline = AbortSignal.timeout(timeoutMs)
  const client = openClient(place, agents, clock)
  const explain = (thrown: unknown): Refusal =>
    deadline.aborted
      ? {
          final: true,
          message: `${new URL(place.endpoint).host} did not answer within ${timeoutMs / 1000} seconds.`,
        }
      : explainRefusal(thrown, place, clock.now())
  const attempt = new Attempt(explain)
  try {
    const refusal = await resolves(place, allowedPrivateHosts)
    if (refusal) attempt.note('PutObject', refusal)
    else await tryAll(new ProbeOperations(client, place, deadline), attempt)
  } finally {
    client.destroy()
    agents.http.destroy()
    agents.https.destroy()
  }
  return {
    operations: attempt.all,
    mayAbort: attempt.may('AbortMultipartUpload'),
    mayRead: attempt.may('GetObject'),
    mayDelete: attempt.may('DeleteObject'),
  }
}

type Agents = ReturnType<typeof createGuardedAgents>

function openClient(place: ProbePlace, { http, https }: Agents, clock: Clock): S3Client {
  const client = new S3Client({
    endpoint: place.endpoint,
    region: place.region,
    forcePathStyle: place.forcePathStyle,
    credentials: { accessKeyId: place.accessKeyId, secretAccessKey: place.secretAccessKey },
    systemClockOffset: clock.now() - Date.now(),
    maxAttempts: 1,
    // Checksums that were not asked for make some providers refuse.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { httpAgent: http, httpsAgent: https },
  })
  boundAnswers(client)
  return client
}

/** Asked before anything else, so that a name without an address is told from a host that is silent. */
async function resolves(place: ProbePlace, allowedPrivateHosts: string[]): Promise<Refusal | undefined> {
  const find = (host: string) =>
    /^[\d.]+$|:/.test(host)
      ? Promise.resolve(true)
      : resolveHost(host, allowedPrivateHosts.includes('*')).then(
          (found) => found.length > 0,
          () => false,
        )
  if (await find(probeHost(place))) return undefined
  const { hostname } = new URL(place.endpoint)
  if (place.forcePathStyle || !(await find(hostname))) return unresolved(place)
  const message = `${hostname} is there, but ${probeHost(place)} has no address. Switch on path style.`
  return { final: true, message }
}

/** What was tried, and how it went. */
class Attempt {
  readonly all: ProbedOperation[] = []
  #over = false
  readonly #explain: (thrown: unknown) => Refusal

  constructor(explain: (thrown: unknown) => Refusal) {
    this.#explain = explain
  }

  note(name: OperationName, refusal: Refusal): void {
    this.#over ||= refusal.final
    this.all.push({ name, ok: false, needed: NEEDED.has(name), message: plain(refusal.message) })
  }

  async do<T>(name: OperationName, operation: () => Promise<T>): Promise<T | undefined> {
    if (this.#over) return undefined
    try {
      const result = await operation()
      this.all.push({ name, ok: true, needed: NEEDED.has(name), message: 'Works.' })
      return result
    } catch (thrown) {
      this.note(name, this.#explain(thrown))
      return undefined
    }
  }

  may(name: OperationName): boolean {
    return this.all.some((operation) => operation.name === name && operation.ok)
  }
}

/** It may quote the endpoint, which can say anything at any length. */
function plain(message: string): string {
  return message
    .slice(0, MOST_CHARACTERS)
    .replace(/\p{Cc}/gu, ' ')
    .toWellFormed()
}

const MOST_CHARACTERS = 1000

type OperationName =
  | 'PutObject'
  | 'CreateMultipartUpload'
  | 'UploadPart'
  | 'CompleteMultipartUpload'
  | 'AbortMultipartUpload'
  | 'GetObject'
  | 'DeleteObject'

const NEEDED: ReadonlySet<OperationName> = new Set<OperationName>([
  'PutObject',
  'CreateMultipartUpload',
  'UploadPart',
  'CompleteMultipartUpload',
])

async function tryAll(bucket: ProbeOperations, attempt: Attempt): Promise<void> {
  await attempt.do('PutObject', () => bucket.put())
  await tryMultipart(bucket, attempt)
  // Completing has put a byte there: empty it again.
  if (attempt.may('CompleteMultipartUpload')) await bucket.put().catch(() => {})
  await attempt.do('GetObject', () => bucket.get())
  await attempt.do('DeleteObject', () => bucket.delete())
}

/** An upload that may not be aborted is completed instead, so that none stays behind. */
async function tryMultipart(bucket: ProbeOperations, attempt: Attempt): Promise<void> {
  const id = await attempt.do('CreateMultipartUpload', () => bucket.create())
  if (!id) return
  const etag = await attempt.do('UploadPart', () => bucket.part(id))
  if (!etag) return bucket.abort(id).catch(() => {})
  await attempt.do('AbortMultipartUpload', () => bucket.abort(id))
  if (!attempt.may('AbortMultipartUpload')) {
    await attempt.do('CompleteMultipartUpload', () => bucket.complete(id, etag))
    return
  }
  await attempt.do('CompleteMultipartUpload', async () => {
    const next = await bucket.create()
    await bucket.complete(next, await bucket.part(next)).catch(async (thrown) => {
      await bucket.abort(next).catch(() => {})
      throw thrown
    })
  })
}
