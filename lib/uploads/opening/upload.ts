import type { MemoryAccount } from '../../upload-memory/memory-budget.ts'
import type { Bucket, Target } from '../bucket-port.ts'
import type { Lease } from '../lease/held-lease.ts'
import type { Checksums } from '../rules/checksums.ts'
import type { FileHash } from '../rules/file-hash.ts'
import type { PartNumbers } from '../rules/part-numbers.ts'
import type { PartLimits } from '../rules/part-plan.ts'

/**
 * An upload that no other request may write, as `openUpload` returns it to its writer. These fields never change while
 * the request runs. The state that changes is in objects with their own methods: the upload's progress, what each
 * bucket may hold, which part numbers are bound, and the lease.
 */
export type Upload = {
  /** The file's id. For a lane, the lease is on another row. */
  readonly fileId: string
  /** True if this is only a range of the file: see `lanes.ts`. */
  readonly isLane: boolean
  readonly workspaceId: string
  readonly limits: PartLimits
  /** The memory account for its bytes: the account of its first bucket. */
  readonly memory: MemoryAccount
  readonly declaredType: string | null
  /** The checksums of the entire file that its client has declared. */
  readonly declared: Checksums
  /** Hashes the file's bytes, if its Pipe computes the SHA-256. */
  readonly hash: FileHash | undefined
  /** True if its first bytes must match the declared type. */
  readonly verifiesContent: boolean
  /** Its Pipe had an active webhook when the request arrived. */
  readonly hasWebhooks: boolean
  /** True if a hook decides on the file before the object is created. */
  readonly isGated: boolean
  readonly lease: Lease
  readonly progress: Progress
  readonly numbers: PartNumbers
  /** In ledger order: the required destinations come first. */
  readonly destinations: readonly Destination[]
}

/** A position up to which an upload's bytes are confirmed. */
export type Confirmed = {
  readonly offsetBytes: number
  /** The checksum of all bytes before the offset. */
  readonly crc32: number
  /** How many bytes just before the offset are only in the database. */
  readonly tailBytes: number
}

/** How long an upload without new bytes is kept, and the time after which it accepts no more bytes. */
type Expiry = { readonly expirySeconds: number; readonly expiresByMs: number }

/** The time at which an upload expires if it receives no bytes after `nowMs`. */
export function expiresAtMs({ expirySeconds, expiresByMs }: Expiry, nowMs: number): number {
  return Math.min(nowMs + expirySeconds * 1000, expiresByMs)
}

/**
 * An upload's progress, as its row in the ledger shows it. Each method is called by a single function, after the
 * ledger has committed the change. Only the recorder moves the offset.
 */
export class Progress {
  readonly expiry: Expiry
  #confirmed: Confirmed
  #expiresAtMs: number
  #lengthBytes: number | null
  #lengthCameLast: boolean | null
  #reservationLapsed: boolean

  constructor(
    row: Confirmed &
      Expiry & {
        expiresAtMs: number
        lengthBytes: number | null
        lengthCameLast: boolean | null
        reservationLapsed: boolean
      },
  ) {
    this.expiry = row
    this.#confirmed = row
    this.#expiresAtMs = row.expiresAtMs
    this.#lengthBytes = row.lengthBytes
    this.#lengthCameLast = row.lengthCameLast
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

  /** True if the length was declared after every byte had arrived. */
  get lengthCameLast(): boolean | null {
    return this.#lengthCameLast
  }

  /** True if quota is no longer reserved for the missing bytes. */
  get reservationLapsed(): boolean {
    return this.#reservationLapsed
  }

  /** Called by the recorder. */
  moveTo(confirmed: Confirmed, nowMs: number): void {
    this.#confirmed = confirmed
    this.#expiresAtMs = expiresAtMs(this.expiry, nowMs)
  }

  /** Called by `declareLength`. */
  lengthDeclared(lengthBytes: number): void {
    this.#lengthBytes = lengthBytes
    this.#lengthCameLast = lengthBytes === this.offsetBytes
  }

  /** Called by `renewReservation`. */
  reservationRenewed(): void {
    this.#reservationLapsed = false
  }
}

/** What the bucket may have stored for an upload, regardless of its responses. */
type Held = { kind: 'nothing' } | { kind: 'multipart'; id: string } | { kind: 'object' }

export type Place = {
  dataStoreId: string
  /** Starts at 1. */
  position: number
  required: boolean
  bucket: Bucket
  target: Target
  mayRead: boolean
}

/**
 * A destination of an upload's bytes. The sender reports here what the bucket may have stored. A best-effort
 * destination gets the same bytes, and is left out once it fails.
 */
export class Destination {
  readonly dataStoreId: string
  readonly position: number
  readonly required: boolean
  readonly bucket: Bucket
  readonly target: Target
  /** Whether the credentials allow reading, so that the object can be looked up. */
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

  /** True while the destination gets new bytes. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  get multipartId(): string | null {
    return this.#held.kind === 'multipart' ? this.#held.id : null
  }

  /** True once a single PutObject has been sent: the object may exist, whatever the response. */
  get wasPut(): boolean {
    return this.#held.kind === 'object'
  }

  /** The last fault of a request to its bucket. */
  get fault(): unknown {
    return this.#fault
  }

  /** Called by the sender of the parts or of the entire file. */
  failedWith(fault: unknown): void {
    this.#fault = fault
  }

  /** Called by the sender of the parts. */
  multipartBegun(id: string): void {
    this.#held = { kind: 'multipart', id }
  }

  /** Called by `finishUpload`, before it sends an entire file. */
  puttingObject(): void {
    this.#held = { kind: 'object' }
  }

  /** Called when a best-effort destination is abandoned. */
  close(): void {
    this.#isOpen = false
  }
}
