import type { z } from 'zod'
import type { Actor } from '../../identity/audit/record-audit.ts'
import type { Runtime } from '../../platform/runtime.ts'
import type { Delivery } from './delivery.ts'
import { type deliveryQuery, listDeliveries } from './list-deliveries.ts'

const AT_ONCE = 500

/** All deliveries that match the query, page by page. Each page is read only when it is requested. */
export async function* eachDelivery(
  runtime: Pick<Runtime, 'db' | 'clock'>,
  actor: Actor,
  query: z.output<typeof deliveryQuery>,
): AsyncGenerator<Delivery[]> {
  let cursor: string | undefined
  do {
    const page = await listDeliveries(runtime, actor, { ...query, cursor, limit: AT_ONCE })
    yield page.data
    cursor = page.nextCursor ?? undefined
  } while (cursor)
}
