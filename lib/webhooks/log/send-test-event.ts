import { fileEventBody } from '../../events/file-event.ts'
import { writeEvents } from '../../events/write-events.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { uuidv7 } from '../../platform/kernel/ids.ts'
import { takeFromLimit } from '../../platform/rate-limits.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { findPipe } from '../../workspace/pipes/read-pipes.ts'
import { findOutput } from '../outputs/find-output.ts'
import type { WholeDelivery } from './delivery.ts'
import { showDelivery } from './show-delivery.ts'

const PER_WORKSPACE = { burst: 30, refillMs: 2000 }

/** Sends the output an event like a real one, marked as a test. It is sent even if the output is off. */
export async function sendTestEvent(
  { db, clock, queue }: Pick<Runtime, 'db' | 'clock' | 'queue'>,
  actor: Actor,
  pipeId: string,
): Promise<WholeDelivery> {
  await takeFromLimit({ db, clock }, `test-event:${actor.workspaceId}`, PER_WORKSPACE)
  return db.transaction(async (tx) => {
    const { output } = await findOutput(tx, actor, pipeId)
    const { dataStoreId } = await findPipe(tx, actor, pipeId)
    const at = new Date(clock.now())
    const id = uuidv7(at.getTime())
    const body = fileEventBody({
      id,
      at,
      test: true,
      file: exampleFile(pipeId, dataStoreId, uuidv7(at.getTime())),
    })
    const { workspaceId } = actor
    const event = { id, workspaceId, pipeId, test: true, body, output } as const
    const [deliveryId] = await writeEvents(tx, queue, [event], at)
    return showDelivery({ db: tx, clock }, actor, deliveryId!)
  })
}

function exampleFile(
  pipeId: string,
  dataStoreId: string,
  id: string,
): Parameters<typeof fileEventBody>[0]['file'] {
  const filename = 'example.txt'
  return {
    id,
    pipeId,
    filename,
    filetype: 'text/plain',
    status: 'transferred',
    sizeBytes: 13,
    senderName: 'Test',
    protocol: 'tus',
    subject: null,
    metadata: {},
    uploadMetadata: {},
    // The CRC32 of `Hello, world!`
    crc32: 0xebe6c6e6,
    destinations: [
      {
        dataStoreId,
        status: 'transferred',
        bucket: 'example-bucket',
        key: `${id}/${filename}`,
        etag: '"6cd3556deb0da54bca060b4c39479839"',
      },
    ],
  }
}
