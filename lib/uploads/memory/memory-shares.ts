import { MIN_PART_BYTES, USUAL_PART_BYTES } from '../rules/part-plan.ts'
import { FIRST_PAGE_BYTES, PAGE_BYTES } from './page-pool.ts'

/**
 * How the memory budget is divided: a sixty-fourth for the responses of buckets, the size of the largest part for tails
 * that are read back, a quarter for workspaces that hold less than one part, and the rest for everybody.
 */
export type Shares = {
  readonly limitBytes: number
  /** The most that can be reserved at once. */
  readonly tailBytes: number
  readonly responseBytes: number
  /** For parts that are being received or sent. */
  readonly partBytes: number
  /** How much of `partBytes` is open to workspaces that already hold a whole part. */
  readonly commonBytes: number
  /** How much of it parts may hold that only destinations of best effort still need. */
  readonly trailingBytes: number
}

/** What the process, one workspace, and one of its buckets hold now, and the most that an operator allows the workspace. */
export type Held = {
  allBytes: number
  workspaceBytes: number
  workspaceMostBytes: number
  bucketBytes: number
}

/** A workspace may hold this multiple of what is left, so that something is always left for the others. */
const WORKSPACE_SHARE = 3
/** The same for a workspace that holds less than one part: lower, so that many of them can fill a part each. */
const SMALL_WORKSPACE_SHARE = 1
/** A bucket may hold this multiple of what is left to its workspace. */
const BUCKET_SHARE = 4
/** Concatenation reads less than two of the smallest parts at once. */
const MAX_JOINED_BYTES = 2 * MIN_PART_BYTES
/** The most memory that a chunk of one page takes, where it ends one part and begins the next. */
const CHUNK_TAKES_BYTES = 2 * PAGE_BYTES + FIRST_PAGE_BYTES

export function divideMemory(limitBytes: number, maxPartBytes: number): Shares {
  const tailBytes = Math.max(maxPartBytes, MAX_JOINED_BYTES)
  const responseBytes = Math.floor(limitBytes / 64)
  const partBytes = limitBytes - tailBytes - responseBytes
  const commonBytes = partBytes - limitBytes / 4
  return { limitBytes, tailBytes, responseBytes, partBytes, commonBytes, trailingBytes: limitBytes / 4 }
}

/** A share of the memory for parts, and never less than one part, so that uploads go on. */
export function mostBytesOf({ partBytes }: Shares, percent: number | undefined): number {
  return percent === undefined ? Infinity : Math.max((partBytes * percent) / 100, USUAL_PART_BYTES)
}

/** Whether the uploads to a bucket hold at least this fraction of what they may hold. */
export function holdsFraction(fraction: number, shares: Shares, held: Held): boolean {
  const { allBytes, workspaceBytes, workspaceMostBytes, bucketBytes } = held
  const mayHoldBytes =
    workspaceBytes < USUAL_PART_BYTES
      ? SMALL_WORKSPACE_SHARE * (shares.partBytes - allBytes)
      : WORKSPACE_SHARE * (shares.commonBytes - allBytes)
  return (
    workspaceBytes >= fraction * Math.min(mayHoldBytes, workspaceMostBytes) ||
    bucketBytes >= fraction * BUCKET_SHARE * (mayHoldBytes - workspaceBytes)
  )
}

/** Whether the uploads to a bucket have to stop reading. If not, one more chunk is sure to fit. */
export function isFull(shares: Shares, held: Held): boolean {
  return held.allBytes + CHUNK_TAKES_BYTES > shares.partBytes || holdsFraction(1, shares, held)
}
