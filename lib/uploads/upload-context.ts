import type { Db } from '../platform/db/database.ts'
import type { Clock } from '../platform/kernel/clock.ts'
import type { Logger } from '../platform/log/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { MemoryBudget } from '../upload-memory/memory-budget.ts'
import type { SealedDataStore } from '../workspace/data-stores/sealed-data-store.ts'
import type { Quota } from '../workspace/usage/reserve.ts'
import type { Bucket } from './bucket-port.ts'
import type { Leases } from './lease/leases.ts'
import type { EmitCreated, Insertion } from './ledger/insert-upload.ts'
import type { TailCap } from './ledger/tail-cap.ts'
import type { CreationRight, UploadRights } from './ledger/upload-rights.ts'
import type { UploadRow, UploadToken } from './ledger/upload-rows.ts'
import type { Whole } from './ledger/whole-files.ts'
import type { Verdict } from './rules/decision.ts'
import type { OpenFileHash } from './rules/file-hash.ts'
import type { TailCipher } from './rules/tail-cipher.ts'
import type { UploadTerms } from './rules/upload-terms.ts'

/**
 * The types of the ledger that protocols use: the rows that a token gives access to, and a request with an entire file,
 * for which the query that reads these rows also takes the lease.
 */
export type { WholeRequest } from './ledger/first-lease.ts'
export type { LaneRow } from './ledger/lanes.ts'
export type { CreationRight, UploadRight } from './ledger/upload-rights.ts'
export type { PipeRow, UploadRow } from './ledger/upload-rows.ts'
export type FileProtocol = UploadRow['protocol']
/** The protocols that clients use at the upload endpoint. */
export type HttpProtocol = Extract<FileProtocol, 'tus' | 'resumable-http' | 'http'>

/** What a receiver may change about an upload before it starts. */
export type Named = {
  filename?: string | undefined
  keyPrefix?: string | undefined
  metadata?: Record<string, string> | undefined
  /** As in a token, settings that the Pipe does not let tokens change have no effect. */
  object?: UploadToken['object'] | undefined
}

/** What the hook is asked about before an upload starts, when its file has no record yet. */
export type Asked = Pick<CreationRight, 'token' | 'pipe'> & {
  fileId: string
  declared: {
    lengthBytes: number | null
    filename: string
    filetype: string | null
    uploadMetadata: Record<string, string>
    protocol: FileProtocol
  }
}

/** Asks the customer's backend, with retries. If it does not answer, the Pipe's hook settings decide. */
export type Hooks = {
  /** Throws if the upload may not start. */
  beforeCreate(asked: Asked): Promise<Named>
  beforeComplete(fileId: string): Promise<Verdict>
}

/** Work that no request started. `of` is what a share of the node is limited for: a Data Store, or a Pipe. */
type Task = { kind: 'reconcile' | 'repair' | 'decide'; of: string }

/** The dependencies of this folder's functions. */
export type UploadContext = {
  db: Db
  clock: Clock
  log: Logger
  metrics: Metrics
  terms: UploadTerms
  quota: Quota
  budget: MemoryBudget
  leases: Leases
  rights: UploadRights
  insertUpload(insertion: Insertion): Promise<void>
  /** Returns false if the lease was lost. */
  recordWhole(whole: Whole): Promise<boolean>
  /**
   * Limits how many tails are written at the same time, so that a mass disconnect does not use up the database
   * connections.
   */
  limitTailWrites<Result>(work: () => Promise<Result>): Promise<Result>
  tailCap: TailCap
  tailCipher: TailCipher
  openHash: OpenFileHash
  openBucket(dataStore: SealedDataStore): Bucket
  hooks: Hooks
  /** Writes the event for each file's new status, in the transaction that changes it. */
  emitEvents(tx: Db, ...fileIds: string[]): Promise<void>
  emitCreated: EmitCreated
  /** Writes the event for a file that became `transferred` through a repair. Its first end has already been counted. */
  emitRepaired(tx: Db, fileId: string): Promise<void>
  /** Called between steps. Tests kill the process here to show that the upload survives. */
  checkpoint(name: Checkpoint): void
  /** Work that continues after its request has ended. A stopping node waits for it. */
  background: Set<Promise<void> & { task: Task | undefined }>
  /** Aborted when this node stops: other nodes then continue its work. */
  stopping: AbortController
}

export const CHECKPOINTS = [
  'upload created',
  'multipart created',
  'part sent',
  'part recorded',
  'object put',
  'transferring',
  'complete answered',
  'transferred',
] as const
/** Additional checkpoints for files that a hook decides on. */
export const DECISION_CHECKPOINTS = ['decision answered', 'decided'] as const
export type Checkpoint = (typeof CHECKPOINTS | typeof DECISION_CHECKPOINTS)[number]

/**
 * Lets work continue after its request has ended. A stopping node waits for it; failures are logged. Returns a promise
 * that resolves once the work has ended, however it ends.
 */
export function inBackground(
  { background, log }: Pick<UploadContext, 'background' | 'log'>,
  work: Promise<unknown>,
  task?: Task,
): Promise<void> {
  const logged = work.then(
    () => {},
    (err: unknown) => log.warn({ err }, 'background work failed'),
  )
  const ended = Object.assign(
    logged.finally(() => background.delete(ended)),
    { task },
  )
  background.add(ended)
  return ended
}

/** What this node's tasks of one kind are for, one entry per task. */
export function busyWith({ background }: Pick<UploadContext, 'background'>, kind: Task['kind']): string[] {
  return [...background].flatMap(({ task }) => (task?.kind === kind ? [task.of] : []))
}

/** Stops all writers once the bytes received are recorded, and waits for background work. */
export async function drainUploads({ leases, background, stopping }: UploadContext): Promise<void> {
  stopping.abort()
  await leases.stop()
  await Promise.allSettled(background)
}
