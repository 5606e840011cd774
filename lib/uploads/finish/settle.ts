import { attemptsOf, bucketFault, bucketRefusal } from '../bucket-port.ts'
import { lostLease } from '../ledger/lease-terms.ts'
import { type Step, verdictOn } from '../rules/faults.ts'
import type { UploadContext } from '../upload-context.ts'
import { type Attempt, fail, settleByLookingUp } from './look-up-object.ts'
import { recordTransferred, type Stored } from './record-transferred.ts'

/**
 * Waits for the object to be made, and records the outcome: the file is transferred, or failed, or left for another
 * attempt. The lease is released in each case. True if the object exists.
 */
export async function settle(
  context: UploadContext,
  file: Attempt,
  step: Step,
  storing: Promise<Stored>,
): Promise<boolean> {
  const { lease } = file
  try {
    if (!(await lease.whileHeld(recordTransferred(context, lease, await storing)))) throw lostLease()
    context.checkpoint('transferred')
    return true
  } catch (error) {
    return await settleFault(context, file, step, error)
  }
}

/** The same for an attempt that has already failed, while no client was waiting. */
export async function settleFault(
  context: UploadContext,
  file: Attempt,
  step: Step,
  error: unknown,
): Promise<boolean> {
  const { fileId, lease } = file
  context.log.warn({ err: error, fileId, step }, 'could not create the object')
  const verdict = verdictOn(step, error)
  const completeRefused = !file.sentBefore && isCertain(step, error)
  const release = (refusal: unknown) =>
    lease.release({ interrupted: false, refusal: bucketRefusal(refusal), completeRefused }).catch(() => {})
  if (verdict === 'look up')
    return settleByLookingUp(context, file).catch(async (unanswered: unknown) => {
      await release(unanswered)
      return false
    })
  if (verdict === 'fail') await fail(context, file, { reason: (error as Error).message })
  else await release(error)
  return false
}

/** Whether this attempt has certainly not made the object. */
function isCertain(step: Step, error: unknown): boolean {
  if (step === 'lastPart') return true
  return step === 'complete' && bucketFault(error) === 'refused' && attemptsOf(error) === 1
}
