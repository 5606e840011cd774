import { waitForDecision } from '../hooks/decide-files.ts'
import { rejected } from '../hooks/rejection.ts'
import { workspaceSuspended } from '../identity/suspension.ts'
import { notNow, SluiceError } from '../platform/kernel/errors.ts'
import { appendBytes } from '../uploads/append.ts'
import { maxUploadBytes } from '../uploads/opening/may-create.ts'
import { openForBytes, releaseUpload } from '../uploads/opening/open-for-bytes.ts'
import type { Upload } from '../uploads/opening/upload.ts'
import type { CreationRight, UploadContext } from '../uploads/upload-context.ts'
import type { SignedIn } from './sign-in.ts'
import type { FolderTerms } from './terms.ts'
import { type AheadBudget, WriteQueue } from './write-queue.ts'

export type FileDeps = { context: UploadContext; terms: FolderTerms; allAhead: AheadBudget }
type Target = { fileId: string; offsetBytes: number; signedIn: SignedIn; appends: boolean }
/** An upload with its lease, and how many more bytes it accepts. */
type Opened = { upload: Upload; limitBytes: number }

const RULES = { whenCut: 'keep', completedBy: 'body' } as const
/** How many attempts to close a file may fail because another client has taken it over. */
const CLOSING_ATTEMPTS = 5

/**
 * A file that a client has open for writing. Its upload's lease is acquired when the first bytes arrive, and released
 * when none have arrived for a while, when another client requests the lease, and at the end. The next bytes acquire it
 * again, unless another client has written to the file in the meantime. Closing the file completes it. After a failed
 * write, the file cannot be completed, but it can be resumed later.
 */
export class OpenFile {
  readonly fileId: string
  readonly #deps: FileDeps
  readonly #target: Target
  readonly #queue: WriteQueue
  #run: Promise<void> | undefined
  #fault: { error: unknown } | undefined
  #isComplete = false
  #isGated = false
  #isGone = false
  /** The number of bytes to add to the offsets of a client that appends and counts from zero. */
  #shiftBytes: number | undefined

  constructor(deps: FileDeps, target: Target, opened?: Opened) {
    const { aheadBytes, writeIdleMs: idleMs } = deps.terms
    this.#deps = deps
    this.#target = target
    this.fileId = target.fileId
    const { offsetBytes } = target
    this.#queue = new WriteQueue({ offsetBytes, aheadBytes, allAhead: deps.allAhead, idleMs })
    if (opened) this.#start(opened)
  }

  /** The offset of the next byte that the client has not written yet. */
  get endOffset(): number {
    return this.#queue.endOffset
  }

  /** True if the connection should not be read for now, because writes are still waiting. */
  get isBehind(): boolean {
    return this.#queue.hasUntaken
  }

  /**
   * Resolves when the upload has taken the bytes, or when they are kept because they are ahead of a missing byte. They
   * are durable once the file is closed.
   */
  async write(offset: number, data: Buffer): Promise<void> {
    if (this.#fault) throw this.#fault.error
    this.#shiftBytes ??= this.#target.appends && offset === 0 ? this.#queue.endOffset : 0
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#queue.add(offset + this.#shiftBytes, data, (error) => {
      if (error === undefined) return resolve()
      this.#fail(error)
      reject(error)
    })
    if (this.#queue.hasUntaken && !this.#run) this.#start()
    return promise
  }

  /** Completes the file. Resolves when every byte is durable, and the decision hook, if any, has allowed the file. */
  async close(): Promise<void> {
    const { gap } = this.#queue
    if (gap)
      this.#fail(
        new SluiceError(
          'offset_conflict',
          `The bytes from ${gap.fromBytes} to ${gap.toBytes} were never written.`,
        ),
      )
    else if (!this.#fault) this.#queue.finish('end')
    for (let attempt = 0; !this.#isComplete && !this.#fault; attempt++) {
      if (attempt === CLOSING_ATTEMPTS) this.#fail(takenOver())
      else await (this.#run ?? this.#start())
    }
    await this.#run
    if (this.#fault) throw this.#fault.error
    if (this.#isGated) await this.#decided()
  }

  /**
   * Waits for the decision hook, because a client that has already received a success would not learn of a rejection.
   */
  async #decided(): Promise<void> {
    const decision = await waitForDecision(this.#deps.context, this.fileId)
    if (decision?.state === 'rejected') throw rejected(decision.reason)
    if (decision && decision.state !== 'allowed')
      throw notNow('Every byte has arrived, but the file has not been decided on yet. Do not send it again.')
  }

  /** Stops writing. The bytes received are kept, and the file can be resumed. */
  async cut(error: unknown = notNow('The connection was lost.')): Promise<void> {
    this.#isGone = true
    this.#queue.finish('cut')
    this.#fail(error)
    await this.#run
  }

  #start(opened?: Opened): Promise<void> {
    const run = this.#append(opened)
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        this.#run = undefined
        if (this.#queue.hasUntaken && !this.#fault) this.#start()
      })
    this.#run = run
    return run
  }

  #fail(error: unknown): void {
    this.#fault ??= { error }
    this.#queue.drop(error)
    this.#queue.finish('cut')
  }

  async #append(opened: Opened | undefined): Promise<void> {
    const { context } = this.#deps
    const { upload, limitBytes } = opened ?? (await this.#open())
    context.metrics.uploadsOpen.inc()
    try {
      const { state, why } = await appendBytes(context, upload, this.#queue, { limitBytes, rules: RULES })
      this.#isComplete = state !== 'uploading'
      this.#isGated = upload.isGated
      if (why === 'draining') throw notNow('This node is stopping. Connect again and resume.')
      if (why === 'suspended') throw workspaceSuspended()
      if (why === 'end' && !this.#isComplete)
        throw notNow('The file could not be completed. Resume the upload.')
    } finally {
      context.metrics.uploadsOpen.dec()
    }
  }

  async #open(): Promise<Opened> {
    const { context } = this.#deps
    const { fileId, signedIn } = this.#target
    const right = await context.rights.toContinue(signedIn.token, { pipeId: signedIn.pipeId, fileId })
    const fromBytes = this.#queue.takenOffset
    const opened = await openForBytes(context, right, { fromBytes, bytes: undefined })
    if (opened.kind === 'ended') throw ended()
    if (opened.kind === 'moved') throw takenOver()
    if (!this.#isGone) return opened
    await releaseUpload(opened.upload)
    throw notNow('The connection was lost.')
  }
}

/** The maximum size of a newly created upload. */
export function limitOfNew({ token, pipe }: Pick<CreationRight, 'token' | 'pipe'>, upload: Upload): number {
  return maxUploadBytes(upload.limits, { tokenBytes: token.maxBytes, pipeBytes: pipe.maxFileBytes })
}

const ended = () => new SluiceError('upload_gone', 'This upload has ended. Write the file again.')

function takenOver(): SluiceError {
  return new SluiceError('upload_locked', 'Another client is writing this file. Check its size, then resume.')
}
