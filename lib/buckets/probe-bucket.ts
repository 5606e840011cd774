import type { FileObject, FoundCapabilities } from '#drizzle/schema/index.ts'
import type { Clock } from '../platform/kernel/clock.ts'
import { createGuardedAgents, resolveHost } from '../platform/net/guarded-agents.ts'
import { isBucketError } from './bucket-error.ts'
import { addressOf } from './bucket-place.ts'
import { explainRefusal, type Refusal, unresolved } from './explain-refusal.ts'
import { findCapabilities, ProbeOperations, type ProbePlace } from './probe-operations.ts'
import type { Identity } from './temporary/federation.ts'

export type ProbedOperation = { name: string; ok: boolean; needed: boolean; message: string }

export type Probe = {
  operations: ProbedOperation[]
  /** True if everything works that uploads need. */
  works: boolean
  mayAbort: boolean
  mayRead: boolean
  mayDelete: boolean
  found: FoundCapabilities
}

/** A named set of settings that uploads use for their objects. */
export type ObjectUse = { name: string; object: FileObject }

type ProbeOptions = {
  allowedPrivateHosts: string[]
  clock: Clock
  identity?: Identity
  timeoutMs?: number
  uses?: readonly ObjectUse[]
}

/** The time limit for all operations together. A healthy bucket responds within one second. */
const TIMEOUT_MS = 9000

/**
 * Tests each operation that Sluice uses, on the real bucket and with the client that uploads use. Leaves no unfinished
 * multipart upload behind, but does leave a few small objects if the credentials do not allow deleting.
 */
export async function probeBucket(place: ProbePlace, options: ProbeOptions): Promise<Probe> {
  const { allowedPrivateHosts, clock, identity, timeoutMs = TIMEOUT_MS, uses = [] } = options
  const agents = createGuardedAgents(allowedPrivateHosts, { agent: { keepAlive: false } })
  const deadline = AbortSignal.timeout(timeoutMs)
  const bucket = new ProbeOperations(
    place,
    { clock, agents, retryDelaysMs: [], ...(identity && { identity }) },
    deadline,
  )
  const explain = (thrown: unknown): Refusal =>
    deadline.aborted
      ? {
          final: true,
          message: `${new URL(place.endpoint).host} did not respond within ${timeoutMs / 1000} seconds.`,
        }
      : explainRefusal(thrown, place, clock.now())
  const attempt = new Attempt(place.capabilities.protocol, explain)
  try {
    const refusal = await resolves(place, allowedPrivateHosts)
    if (refusal) attempt.note('put', refusal)
    else await tryAll(bucket, attempt, uses)
  } finally {
    agents.http.destroy()
    agents.https.destroy()
  }
  return {
    operations: attempt.operations,
    works: attempt.works,
    mayAbort: attempt.may('abort'),
    mayRead: attempt.may('get'),
    mayDelete: attempt.may('delete'),
    found: foundIn(place.capabilities, bucket.capabilities),
  }
}

/** Returns the capabilities that differ from the assumed ones. */
function foundIn(assumed: ProbePlace['capabilities'], found: ProbePlace['capabilities']): FoundCapabilities {
  return Object.fromEntries(
    Object.entries(found).filter(([name, value]) => assumed[name as keyof typeof assumed] !== value),
  )
}

/** This is checked first, to distinguish a name that does not resolve from a host that does not respond. */
async function resolves(place: ProbePlace, allowedPrivateHosts: string[]): Promise<Refusal | undefined> {
  const find = (host: string) =>
    /^[\d.]+$|:/.test(host)
      ? Promise.resolve(true)
      : resolveHost(host, allowedPrivateHosts.includes('*')).then(
          (found) => found.length > 0,
          () => false,
        )
  const { base, inPath } = addressOf(place)
  if (await find(base.hostname)) return undefined
  const { hostname } = new URL(place.endpoint)
  if (inPath || !(await find(hostname))) return unresolved(place)
  const message = `${hostname} exists, but ${base.hostname} does not resolve. Switch on path style.`
  return { final: true, message }
}

/** What is tried, by the name of its operation in each protocol. Without a name, the protocol has no request for it. */
const OPERATIONS = {
  s3: {
    put: 'PutObject',
    create: 'CreateMultipartUpload',
    part: 'UploadPart',
    complete: 'CompleteMultipartUpload',
    abort: 'AbortMultipartUpload',
    get: 'GetObject',
    copy: 'UploadPartCopy',
    delete: 'DeleteObject',
  },
  azure: {
    put: 'PutBlob',
    create: null,
    part: 'PutBlock',
    complete: 'PutBlockList',
    abort: null,
    get: 'GetBlob',
    copy: null,
    delete: 'DeleteBlob',
  },
} as const
type Step = keyof (typeof OPERATIONS)['s3']

const NEEDED: ReadonlySet<Step> = new Set<Step>(['put', 'create', 'part', 'complete'])

/** What was tried, and the outcomes. */
class Attempt {
  readonly #tried: (Omit<ProbedOperation, 'name'> & { name: string | null; step?: Step })[] = []
  #over = false
  readonly #names: Record<Step, string | null>
  readonly #explain: (thrown: unknown) => Refusal

  constructor(protocol: keyof typeof OPERATIONS, explain: (thrown: unknown) => Refusal) {
    this.#names = OPERATIONS[protocol]
    this.#explain = explain
  }

  get operations(): ProbedOperation[] {
    return this.#tried.flatMap(({ step: _, name, ...outcome }) => (name ? [{ name, ...outcome }] : []))
  }

  /** True if everything works that uploads need. */
  get works(): boolean {
    return [...NEEDED].every((step) => this.may(step))
  }

  note(step: Step, refusal: Refusal): void {
    this.#note({ step, name: this.#names[step] }, refusal)
  }

  async do<T>(step: Step, operation: () => Promise<T>): Promise<T | undefined> {
    if (this.#over) return undefined
    return this.#try({ step, name: this.#names[step] }, operation, (refusal) => {
      this.#over ||= refusal.final
    })
  }

  /** Tries an operation. Even if it is refused, the others may work. */
  async use({ name }: ObjectUse, operation: () => Promise<void>): Promise<void> {
    if (!this.#over) await this.#try({ name }, operation)
  }

  async #try<T>(
    tried: { step?: Step; name: string | null },
    operation: () => Promise<T>,
    refused?: (refusal: Refusal) => void,
  ): Promise<T | undefined> {
    try {
      const result = await operation()
      this.#tried.push({ ...tried, ok: true, needed: isNeeded(tried), message: 'Works.' })
      return result
    } catch (thrown) {
      const refusal = this.#explain(thrown)
      refused?.(refusal)
      this.#note(tried, refusal)
      return undefined
    }
  }

  #note(tried: { step?: Step; name: string | null }, refusal: Refusal): void {
    this.#tried.push({ ...tried, ok: false, needed: isNeeded(tried), message: plain(refusal.message) })
  }

  may(step: Step): boolean {
    return this.#tried.some((tried) => tried.step === step && tried.ok)
  }
}

const isNeeded = ({ step }: { step?: Step }): boolean => step !== undefined && NEEDED.has(step)

/** A message may quote the endpoint's response, which can contain arbitrary text of any length. */
function plain(message: string): string {
  return message
    .slice(0, MAX_CHARACTERS)
    .replace(/\p{Cc}/gu, ' ')
    .toWellFormed()
}

const MAX_CHARACTERS = 1000

async function tryAll(bucket: ProbeOperations, attempt: Attempt, uses: readonly ObjectUse[]): Promise<void> {
  const key = await attempt.do('put', () =>
    findCapabilities(bucket, ['bodyChecksum', 'ifNoneMatch'], () => bucket.put()),
  )
  await tryMultipart(bucket, attempt)
  if (attempt.may('complete')) await tryUses(bucket, attempt, uses)
  if (key) {
    await attempt.do('get', () => bucket.get(key))
    if (attempt.may('get')) await tryCopying(bucket, attempt, key)
  }
  await attempt.do('delete', () => bucket.delete())
}

/** A multipart upload that cannot be aborted is completed instead, so that it is not left behind. */
async function tryMultipart(bucket: ProbeOperations, attempt: Attempt): Promise<void> {
  const upload = await attempt.do('create', () => bucket.create())
  if (!upload) return
  const etag = await attempt.do('part', () => bucket.part(upload))
  if (!etag) return bucket.abort(upload).catch(() => {})
  await attempt.do('abort', () => bucket.abort(upload))
  let left = attempt.may('abort') ? undefined : { ...upload, etag }
  await attempt.do('complete', () =>
    findCapabilities(bucket, ['fullObjectCrc32', 'ifNoneMatchOnComplete'], async () => {
      const begun = left ?? (await beginUpload(bucket))
      left = undefined
      await bucket.complete(begun, begun.etag).catch(async (thrown) => {
        await bucket.abort(begun).catch(() => {})
        throw thrown
      })
    }),
  )
}

/**
 * For each set of settings, writes one object with PutObject and another with a multipart upload, which requires
 * additional permissions if an encryption key is used.
 */
async function tryUses(bucket: ProbeOperations, attempt: Attempt, uses: readonly ObjectUse[]): Promise<void> {
  for (const use of uses)
    await attempt.use(use, async () => {
      const { object } = use
      await bucket.put(object)
      const upload = await bucket.create(object)
      try {
        await bucket.complete(upload, await bucket.part(upload))
      } catch (thrown) {
        await bucket.abort(upload).catch(() => {})
        throw thrown
      }
    })
}

async function beginUpload(bucket: ProbeOperations) {
  const upload = await bucket.create()
  return { ...upload, etag: await bucket.part(upload) }
}

/** If nothing is known about the provider, only an attempt shows whether it supports copying. */
async function tryCopying(bucket: ProbeOperations, attempt: Attempt, source: string): Promise<void> {
  const { capabilities } = bucket
  let refused = false
  await attempt.do('copy', () =>
    bucket.copy(source).catch((thrown) => {
      refused = isBucketError(thrown) && (thrown.kind === 'refused' || thrown.kind === 'impossible')
      throw thrown
    }),
  )
  // After a transient error, copying may still work.
  if (refused || attempt.may('copy')) bucket.assume({ ...capabilities, copyParts: !refused })
}
