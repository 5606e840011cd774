import type { WholeDelivery } from '#lib/webhooks/log/delivery.ts'
import type { State } from '../ui/status.tsx'

type Shown = Pick<WholeDelivery, 'state'> & { attempts: readonly unknown[] }

/** A pending delivery has either not been attempted yet, or is retried. */
export const shownState = ({ state, attempts }: Shown): State =>
  state === 'pending' && attempts.length > 0 ? 'retrying' : state
