import type { State } from '#components/ui/status.tsx'
import type { WholeDelivery } from '#lib/webhooks/log/delivery.ts'

type Shown = Pick<WholeDelivery, 'state'> & { attempts: readonly unknown[] }

/** A pending delivery has either not been attempted yet, or is retried. */
export const shownState = ({ state, attempts }: Shown): State =>
  state === 'pending' && attempts.length > 0 ? 'retrying' : state
