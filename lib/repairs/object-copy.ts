import { combineCrc32 } from '../platform/kernel/crc32.ts'
import { fastCrc32 } from '../platform/kernel/fast-crc32.ts'
import { withMemory } from '../upload-memory/memory-budget.ts'
import type { Body, Bucket, Target } from '../uploads/bucket-port.ts'
import { type Attempt, type Judged, judge, judgeFault, storedByPut } from '../uploads/finish/create-object.ts'
import { lostLease } from '../uploads/ledger/lease-terms.ts'
import type { StoredObject } from '../uploads/ledger/transferred.ts'
import { equalPartBytes, limitsOfSet } from '../uploads/rules/part-plan.ts'
import type { UploadContext } from '../uploads/upload-context.ts'
import {
  type Repair,
  type RepairedPart,
  readRepairedParts,
  recordRepairedPart,
  recordRepairMultipart,
} from './repair-claims.ts'

export type CopyPlaces = {
  source: { bucket: Bucket; key: string }
  target: Target & { bucket: Bucket; mayRead: boolean }
}

/** The time limit for an abort that nobody waits for. */
const ABORT_MS = 5000

/**
 * Copies an object from one bucket to another, with one part in memory at a time, and continues after the parts that
 * an earlier attempt copied. Even if the source has changed, the object is only created if it has the length and the
 * checksum of the bytes that the client sent.
 */
export class ObjectCopy {
  readonly #context: UploadContext
  readonly #repair: Repair
  readonly #places: CopyPlaces
  /** Aborted when the claim is lost or the node stops. */
  readonly #signal: AbortSignal
  #isProgress = false

  constructor(context: UploadContext, repair: Repair, places: CopyPlaces, signal: AbortSignal) {
    this.#context = context
    this.#repair = repair
    this.#places = places
    this.#signal = signal
  }

  /** True once this attempt has copied a part. */
  get isProgress(): boolean {
    return this.#isProgress
  }

  async run(): Promise<Judged> {
    try {
      const isWhole = this.#usualPartBytes() >= this.#repair.bytes
      return isWhole ? await this.#copyWhole() : await this.#copyInParts()
    } catch (fault) {
      if (fault instanceof OtherContent)
        return { kind: 'failed', end: { reason: fault.message }, error: fault }
      return judgeFault(this.#context, this.#attempt(false), 'part', fault)
    }
  }

  /**
   * No part ends early here, so all parts can have the same size. For a large object, their size depends on the node's
   * memory.
   */
  #usualPartBytes(): number {
    const limits = limitsOfSet([this.#places.target.bucket.capabilities], this.#context.budget.maxPartBytes)
    return equalPartBytes(limits, this.#repair.bytes)
  }

  #attempt(sentBefore: boolean): Attempt {
    const { fileId, bytes } = this.#repair
    const lease = { signal: this.#signal }
    return { fileId, lengthBytes: bytes, destination: this.#places.target, lease, sentBefore }
  }

  #copyWhole(): Promise<Judged> {
    return this.#withRange({ first: 0, bytes: this.#repair.bytes }, (body) => {
      this.#assertSame(body.crc32)
      return judge(this.#context, this.#attempt(false), 'put', this.#put(body))
    })
  }

  async #put(body: Body): Promise<StoredObject> {
    const { bucket, ...target } = this.#places.target
    const result = await bucket.putObject(target, body, { signal: this.#signal })
    this.#context.checkpoint('object put')
    return storedByPut(bucket, target, result)
  }

  async #copyInParts(): Promise<Judged> {
    const { bytes, multipartId: begun } = this.#repair
    const multipartId = begun ?? (await this.#begin())
    const parts = await readRepairedParts(this.#context.db, this.#repair)
    // A node with less memory keeps the part size of the first attempt. Otherwise, it could run out of part numbers.
    const partBytes = parts[0]?.sizeBytes ?? this.#usualPartBytes()
    let first = parts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
    // Only an attempt that had copied everything can have sent Complete.
    const sentBefore = first === bytes
    while (first < bytes) {
      const number = parts.length + 1
      const range = { first, bytes: Math.min(partBytes, bytes - first) }
      parts.push(await this.#withRange(range, (body) => this.#copyPart({ multipartId, number }, body)))
      first += range.bytes
    }
    const crc32 = parts.reduce((sum, part) => combineCrc32(sum, part.crc32, part.sizeBytes), 0)
    this.#assertSame(crc32)
    const completing = this.#complete({ multipartId, sentBefore }, { parts, bytes, crc32 })
    return judge(this.#context, this.#attempt(sentBefore), 'complete', completing)
  }

  async #begin(): Promise<string> {
    const { bucket, ...target } = this.#places.target
    const multipartId = await bucket.createMultipart(target, { signal: this.#signal })
    this.#context.checkpoint('multipart created')
    const begun = { multipartId, storage: bucket.storageOf(target.object) }
    if (await recordRepairMultipart(this.#context.db, this.#repair, begun)) return multipartId
    const options = { signal: AbortSignal.timeout(ABORT_MS) }
    await bucket.abortMultipart({ key: target.key, multipartId }, options).catch(() => {})
    throw lostLease()
  }

  async #copyPart(at: { multipartId: string; number: number }, body: Body): Promise<RepairedPart> {
    const { context, repair, target } = { context: this.#context, repair: this.#repair, ...this.#places }
    const { etag } = await target.bucket.uploadPart({ key: target.key, ...at }, body, {
      signal: this.#signal,
    })
    context.checkpoint('part sent')
    const part = { number: at.number, sizeBytes: body.bytes, etag, crc32: body.crc32 }
    if (!(await recordRepairedPart(context.db, repair, part, context.terms.leaseMs))) throw lostLease()
    this.#isProgress = true
    context.checkpoint('part recorded')
    return part
  }

  async #complete(
    { multipartId, sentBefore }: { multipartId: string; sentBefore: boolean },
    object: Parameters<Bucket['completeMultipart']>[1],
  ): Promise<StoredObject> {
    const { bucket, ...target } = this.#places.target
    const options = { signal: this.#signal, repeated: sentBefore }
    const completed = await bucket.completeMultipart({ ...target, multipartId }, object, options)
    this.#context.checkpoint('complete answered')
    return { ...completed, certainty: 'answered' }
  }

  /** Holds a range of the object in memory, within the budget. */
  #withRange<Result>(
    { first, bytes }: { first: number; bytes: number },
    work: (body: Body) => Promise<Result>,
  ): Promise<Result> {
    const { source, target } = this.#places
    const signal = this.#signal
    const account = this.#context.budget.account(target.bucket)
    return withMemory(account, { bytes, signal }, async () => {
      const chunks = bytes > 0 ? [await source.bucket.readRange(source.key, first, bytes, { signal })] : []
      const crc32 = chunks.reduce((sum, chunk) => fastCrc32(chunk, sum), 0)
      return work({ chunks, bytes, crc32 })
    })
  }

  #assertSame(crc32: number): void {
    const sent = this.#repair.crc32
    if (sent !== null && crc32 !== sent) throw new OtherContent(this.#places.source.key)
  }
}

/** Thrown if the object was replaced at the source. */
class OtherContent extends Error {
  constructor(key: string) {
    super(`The object ${key} at the source is not the uploaded one: its checksum differs.`)
  }
}
