import { and, asc, eq } from 'drizzle-orm'
import { deliveries, events } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'

/** An event with its content, its file and its deliveries. */
type ShownEvent = {
  id: string
  kind: string
  pipeId: string
  fileId: string | null
  test: boolean
  createdAt: string
  /** What receivers get; null while the event counts as missed. */
  payload: unknown
  /** The file's status, while the event counts as missed. */
  missedStatus: string | null
  deliveries: { id: string; state: string; url: string }[]
}

export async function showEvent(
  { db }: Pick<Runtime, 'db'>,
  { workspaceId }: Actor,
  id: string,
): Promise<ShownEvent> {
  const [row] = isUuid(id)
    ? await db
        .select()
        .from(events)
        .where(and(eq(events.id, id), eq(events.workspaceId, workspaceId)))
    : []
  if (!row) throw new SluiceError('not_found', 'There is no such event.')
  const sent = await db
    .select({ id: deliveries.id, state: deliveries.state, url: deliveries.url })
    .from(deliveries)
    .where(eq(deliveries.eventId, id))
    .orderBy(asc(deliveries.id))
  const { kind, pipeId, fileId, test, createdAt, payload, missedStatus } = row
  return {
    id,
    kind,
    pipeId,
    fileId,
    test,
    missedStatus,
    createdAt: createdAt.toISOString(),
    payload: payload === null ? null : JSON.parse(payload),
    deliveries: sent,
  }
}
