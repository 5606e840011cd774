import type { Actor } from '../../identity/audit/record-audit.ts'
import { isSluiceError } from '../../platform/kernel/errors.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { resendDelivery } from './resend-delivery.ts'

/** The size of a page. */
const MOST = 100

/** Resends those deliveries that can be resent, and returns why the others cannot. */
export async function resendDeliveries(
  runtime: Pick<Runtime, 'db' | 'clock' | 'queue'>,
  actor: Actor,
  ids: string[],
): Promise<{ resent: number; refused: string[] }> {
  const refused: string[] = []
  const wanted = ids.filter(isUuid).slice(0, MOST)
  for (const id of wanted) {
    try {
      await resendDelivery(runtime, actor, id)
    } catch (error) {
      if (!isSluiceError(error) || error.status >= 500) throw error
      refused.push(error.message)
    }
  }
  return { resent: wanted.length - refused.length, refused }
}
