import { minutes, seconds } from '../platform/kernel/clock.ts'
import { pause, within } from '../platform/kernel/waits.ts'
import type { Sweep } from '../platform/sweeps.ts'
import type { Claimed } from '../recovery/claim-transferring.ts'
import { makeObject } from '../recovery/reconcile.ts'
import { endUpload } from '../uploads/endings/end-upload.ts'
import type { Lease } from '../uploads/lease/held-lease.ts'
import type { Claim } from '../uploads/ledger/lease-terms.ts'
import type { Verdict } from '../uploads/rules/decision.ts'
import { busyWith, inBackground, type UploadContext } from '../uploads/upload-context.ts'
import { UNDECIDED } from './rejection.ts'
import {
  claimOneUndecided,
  claimUndecided,
  findLapsed,
  IS_OPEN,
  isAskedBy,
  isLapsed,
  readDecision,
  recordDecision,
  type Standing,
} from './stored-decisions.ts'

/**
 * Decides, after the last byte, whether a file becomes an object. Every byte is durable and the file is `transferring`;
 * the holder of its lease asks the customer's backend, stores the decision and, if the object is allowed, creates it
 * under the same lease. If a node dies, its lease expires and the next holder asks again, unless the answer has been
 * stored.
 */

/** How many decisions a node requests in the background at the same time, in addition to those for waiting clients. */
const AT_ONCE = 64
const AT_ONCE_PER_OWNER = 16
const AT_ONCE_PER_PIPE = 8
const LAPSED_AT_ONCE = 100

export function decisionSweeps(context: UploadContext): Sweep[] {
  return [
    { name: 'request decisions', everyMs: seconds(2), run: () => decideFiles(context) },
    {
      name: 'reject undecided files',
      everyMs: minutes(1),
      batch: LAPSED_AT_ONCE,
      run: () => rejectLapsed(context),
    },
  ]
}

/**
 * Requests decisions for files that have no request in progress because their node died or their client
 * disconnected. Returns the number of requests started.
 */
export async function decideFiles(context: UploadContext): Promise<number> {
  const { db, clock, leases } = context
  const busy = busyWith(context, 'decide')
  const limit = AT_ONCE - busy.length
  if (limit <= 0) return 0
  const claim = leases.newClaim()
  const claimed = await claimUndecided(db, claim, {
    limit,
    limitPerPipe: AT_ONCE_PER_PIPE,
    limitPerOwner: AT_ONCE_PER_OWNER,
    busy,
    nowMs: clock.now(),
  })
  for (const file of claimed)
    void inBackground(context, askAndStore(context, { ...file, ...claim }), {
      kind: 'decide',
      of: file.pipeId,
    })
  return claimed.length
}

/** Rejects deferred files that were not decided on in time. */
export async function rejectLapsed(context: UploadContext): Promise<number> {
  const { db, clock } = context
  const nowMs = clock.now()
  const provided = isLapsed(nowMs)
  let ended = 0
  for (const fileId of await findLapsed(db, nowMs, LAPSED_AT_ONCE)) {
    const verdict = { state: 'rejected', by: 'time', reason: UNDECIDED } as const
    if (await store(context, fileId, verdict, { provided, nowMs })) ended += 1
  }
  return ended
}

const DEFERRED_POLL_MS = 1000

/**
 * For a request with a waiting client: requests the decision, unless another request is already doing so, and waits for
 * the decision and then for the object, within time limits. Undefined if the file no longer has a record.
 */
export async function waitForDecision(context: UploadContext, fileId: string): Promise<Standing | undefined> {
  const { db, clock, leases, terms } = context
  let untilMs = performance.now() + terms.decideMs
  let isAllowed = false
  const claim = leases.newClaim()
  const claimed = await claimOneUndecided(db, claim, { fileId, nowMs: clock.now() })
  if (claimed)
    await within(terms.decideMs, inBackground(context, askAndStore(context, { ...claimed, ...claim })))
  for (;;) {
    const standing = await readDecision(db, fileId)
    if (!standing || !isOpen(standing)) return standing
    if (standing.state === 'allowed' && !isAllowed) {
      isAllowed = true
      untilMs = performance.now() + terms.assembleMs
    }
    if (performance.now() >= untilMs || context.stopping.signal.aborted) return standing
    await pause(standing.state === 'deferred' ? DEFERRED_POLL_MS : terms.pollMs, context.stopping.signal)
  }
}

/**
 * True while the object may still be created. If no decision has been requested yet, the process that received the
 * last bytes may have died before requesting it.
 */
const isOpen = ({ status, state }: Standing): boolean =>
  status === 'transferring' || (status === 'uploading' && state === 'due')

async function askAndStore(context: UploadContext, file: Claimed & Claim): Promise<void> {
  const { fileId } = file
  const lease = context.leases.adopt({ ...file, rowId: fileId })
  try {
    const verdict = await lease.whileHeld(context.hooks.beforeComplete(fileId))
    context.checkpoint('decision answered')
    const isStored = await storeAsHolder(context, lease, verdict)
    context.checkpoint('decided')
    if (!isStored || verdict.state !== 'allowed') return
    const outcome = await makeObject(context, file, lease)
    if (outcome.kind === 'lagging') await outcome.concluded
  } catch (error) {
    context.log.warn({ err: error, fileId }, 'could not decide on a file; will retry')
  } finally {
    await lease.release({ interrupted: false })
  }
}

/** False if another decision was made in the meantime. */
function storeAsHolder(context: UploadContext, lease: Lease, verdict: Verdict): Promise<boolean> {
  const { clock } = context
  const isCompleting = verdict.state === 'allowed'
  return store(context, lease.rowId, verdict, {
    provided: isAskedBy(lease),
    nowMs: clock.now(),
    deferMs: context.terms.deferMs,
    isCompleting,
  })
}

type Storing = Pick<UploadContext, 'db' | 'clock' | 'emitEvents' | 'metrics'>

/** Stores a decision; a rejection fails the file in the same transaction and writes its event. */
export function store(
  context: Storing,
  fileId: string,
  verdict: Verdict,
  options: Parameters<typeof recordDecision>[3],
): Promise<boolean> {
  return context.db.transaction(async (tx) => {
    if (!(await recordDecision(tx, fileId, verdict, options))) return false
    const end = { status: 'failed', reason: 'rejected', from: ['transferring'] } as const
    if (verdict.state === 'rejected') await endUpload({ ...context, db: tx }, fileId, end)
    return true
  })
}

/**
 * Stores a decision from an API call or the dashboard. The same decision may be repeated; a decision that differs from the stored one
 * changes nothing.
 */
export async function decideByCall(
  context: Storing,
  fileId: string,
  {
    allow,
    reason = 'The file was rejected.',
    result,
    by,
  }: { allow: boolean; reason?: string | undefined; result?: unknown; by: 'api' | 'dashboard' },
): Promise<'stored' | 'same' | 'not open'> {
  const verdict: Verdict = allow ? { state: 'allowed', by, result } : { state: 'rejected', by, reason }
  if (await store(context, fileId, verdict, { provided: IS_OPEN, nowMs: context.clock.now() }))
    return 'stored'
  const standing = await readDecision(context.db, fileId)
  return standing?.state === verdict.state ? 'same' : 'not open'
}
