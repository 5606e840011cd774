import type { Bucket, Target } from '../bucket-port.ts'
import type { Lease } from '../lease/held-lease.ts'
import type { MemoryAccount } from '../memory/memory-budget.ts'
import type { PartNumbers } from '../rules/part-numbers.ts'
import type { PartLimits } from '../rules/part-plan.ts'

/**
 * An upload that no other request may write, as `openUpload` hands it to its writer. Nothing here changes while the
 * request runs. What does change is in objects that change only by their own methods: how far the upload has come, what
 * each bucket may hold, which part numbers are bound, and the lease.
 */
export type Upload = {
  readonly fileId: string
  readonly workspaceId: string
  readonly limits: PartLimits
  /** Where the memory for its bytes comes from: the account of its first bucket. */
  readonly memory: MemoryAccount
  readonly declaredType: string | null
  /** Of the whole file. Null if the client has not declared it. */
  readonly declaredCrc32: number | null
  /** Its first bytes must fit the declared type. */
  readonly verifiesContent: boolean
  /** Its Pipe had an active webhook when the request came. */
  readonly hasWebhooks: boolean
  /** A hook decides about it before there is an object. */
  readonly isGated: boolean
  readonly lease: Lease
  readonly progress: Progress
  readonly numbers: PartNumbers
  /** In the order of the ledger: the required ones first. */
  readonly destinations: readonly Destination[]
}

/** A position up to which the bytes of an upload are confirmed. */
export type Confirmed = {
  readonly offsetBytes: number
  /** Of all bytes before the offset. */
  readonly crc32: number
  /** How many of these bytes, the last ones, are in the database only. */
  readonly tailBytes: number
}

/** How long an upload is kept that receives no more bytes, and the time after which it takes none at all. */
type Expiry = { readonly expirySeconds: number; readonly expiresByMs: number }

/** When an upload expires that receives no more bytes after `nowMs`. */
export function expiresAtMs({ expirySeconds, expiresByMs }: Expiry, nowMs: number): number {
  return Math.min(nowMs + expirySeconds * 1000, expiresByMs)
}

/**
 * How far an upload has come, as its row in the ledger says. Each method is called by one function alone, after the
 * ledger has committed the change. Only the recorder moves the offset.
 */
export class Progress {
  readonly expiry: Expiry
  #confirmed: Confirmed
  #expiresAtMs: number
  #lengthBytes: number | null
  #reservationLapsed: boolean

  constructor(
    row: Confirmed & Expiry & { expiresAtMs: number; lengthBytes: number | null; reservationLapsed: boolean },
  ) {
    this.expiry = row
    this.#confirmed = row
    this.#expiresAtMs = row.expiresAtMs
    this.#lengthBytes = row.lengthBytes
    this.#reservationLapsed = row.reservationLapsed
  }

  get offsetBytes(): number {
    return this.#confirmed.offsetBytes
  }

  get crc32(): number {
    return this.#confirmed.crc32
  }

  get tailBytes(): number {
    return this.#confirmed.tailBytes
  }

  get expiresAtMs(): number {
    return this.#expiresAtMs
  }

  /** Null until the client has declared it. */
  get lengthBytes(): number | null {
    return this.#lengthBytes
  }

  /** The missing bytes no longer have quota reserved. */
  get reservationLapsed(): boolean {
    return this.#reservationLapsed
  }

  /** By the recorder. */
  moveTo(confirmed: Confirmed, nowMs: number): void {
    this.#confirmed = confirmed
    this.#expiresAtMs = expiresAtMs(this.expiry, nowMs)
  }

  /** By `declareLength`. */
  lengthDeclared(lengthBytes: number): void {
    this.#lengthBytes = lengthBytes
  }

  /** By `renewReservation`. */
  reservationRenewed(): void {
    this.#reservationLapsed = false
  }
}

/** What the bucket may hold of an upload, whatever became of the requests to it. */
type Held = { kind: 'nothing' } | { kind: 'multipart'; id: string } | { kind: 'object' }

export type Place = {
  dataStoreId: string
  /** From 1 on. */
  position: number
  required: boolean
  bucket: Bucket
  target: Target
  mayRead: boolean
}

/**
 * Where the bytes of an upload go. Whoever sends them there says what the bucket may hold by now. One that is not required
 * gets the same bytes, and once it fails it is left out.
 */
export class Destination {
  readonly dataStoreId: string
  readonly position: number
  readonly required: boolean
  readonly bucket: Bucket
  readonly target: Target
  /** Whether the credentials may read, so that the object can be looked up. */
  readonly mayRead: boolean
  #held: Held
  #isOpen: boolean
  #fault: unknown

  constructor(place: Place, { multipartId, isOpen }: { multipartId: string | null; isOpen: boolean }) {
    const { dataStoreId, position, required, bucket, target, mayRead } = place
    this.dataStoreId = dataStoreId
    this.position = position
    this.required = required
    this.bucket = bucket
    this.target = target
    this.mayRead = mayRead
    this.#held = multipartId === null ? { kind: 'nothing' } : { kind: 'multipart', id: multipartId }
    this.#isOpen = isOpen
  }

  get key(): string {
    return this.target.key
  }

  /** It gets the bytes that come. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  get multipartId(): string | null {
    return this.#held.kind === 'multipart' ? this.#held.id : null
  }

  /** A single PutObject was sent: the object may exist, whatever the outcome. */
  get wasPut(): boolean {
    return this.#held.kind === 'object'
  }

  /** The last fault of a request to its bucket. */
  get fault(): unknown {
    return this.#fault
  }

  /** By who sends the parts, or the whole file. */
  failedWith(fault: unknown): void {
    this.#fault = fault
  }

  /** By the sender of its parts. */
  multipartBegun(id: string): void {
    this.#held = { kind: 'multipart', id }
  }

  /** By `finishUpload`, before it sends a whole file. */
  puttingObject(): void {
    this.#held = { kind: 'object' }
  }

  /** By `giveUpDestination`, for one that is not required. */
  close(): void {
    this.#isOpen = false
  }
}
