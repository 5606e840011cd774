import { deliveries, events } from '#drizzle/schema/index.ts'
import type { Db } from '../db/database.ts'
import { uuidv7 } from '../kernel/ids.ts'
import { nudge } from '../live/nudge.ts'
import type { Queue } from '../queue/open-queue.ts'

type NewEvent = {
  id: string
  workspaceId: string
  pipeId: string
  fileId?: string
  test?: true
  body: string
  at: Date
  output: { id: string; url: string }
}

/** The event, its one delivery, and the job of the first attempt, in the caller's transaction. Answers the delivery's id. */
export async function writeEvent(tx: Db, queue: Queue, event: NewEvent): Promise<string> {
  const { id, workspaceId, pipeId, fileId, test = false, body, at, output } = event
  const deliveryId = uuidv7(at.getTime())
  await tx.insert(events).values({ id, workspaceId, pipeId, fileId, test, payload: body, createdAt: at })
  await tx.insert(deliveries).values({
    id: deliveryId,
    workspaceId,
    eventId: id,
    pipeId,
    fileId,
    test,
    webhookOutputId: output.id,
    url: output.url,
    nextTrigger: test ? 'test' : 'auto',
    nextAttemptAt: at,
    createdAt: at,
  })
  await queue.enqueue(tx, 'webhook-attempt', { outputId: output.id, workspaceId })
  await nudge(tx, workspaceId)
  return deliveryId
}
