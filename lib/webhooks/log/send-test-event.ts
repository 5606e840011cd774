import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { EVENT_KINDS, type EventKind } from '#drizzle/schema/index.ts'
import type { EventData } from '../../events/event-schemas.ts'
import { type EventFrame, eventBody, fileEventBody } from '../../events/file-event.ts'
import { writeEvents } from '../../events/write-events.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { days } from '../../platform/kernel/clock.ts'
import { newPipeId, uuidv7 } from '../../platform/kernel/ids.ts'
import { takeFromLimit } from '../../platform/rate-limits.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { findPipe } from '../../workspace/pipes/read-pipes.ts'
import { findOutput, type OutputRef } from '../outputs/find-output.ts'
import { pipeOf } from '../outputs/webhook-output.ts'
import type { WholeDelivery } from './delivery.ts'
import { showDelivery } from './show-delivery.ts'

export const testEventInput = z.strictObject({
  /** Defaults to the first kind that the output is set to receive. */
  event: z.enum(EVENT_KINDS, { message: `must be one of ${EVENT_KINDS.join(', ')}` }).optional(),
})

/** The combined limit for tests of all outputs and hooks. */
export const PER_WORKSPACE = { burst: 30, refillMs: 2000 }
export const testLimit = ({ workspaceId }: Actor) => `test-event:${workspaceId}`

/** Sends the output an event like a real one, marked as a test. It is sent even if the output is off. */
export async function sendTestEvent(
  { db, clock, queue }: Pick<Runtime, 'db' | 'clock' | 'queue'>,
  actor: Actor,
  ref: OutputRef,
  { event }: z.output<typeof testEventInput> = {},
): Promise<WholeDelivery> {
  await takeFromLimit({ db, clock }, testLimit(actor), PER_WORKSPACE)
  return db.transaction(async (tx) => {
    const { output } = await findOutput(tx, actor, ref)
    const at = new Date(clock.now())
    const id = uuidv7(at.getTime())
    const kind = event ?? output.events[0]!
    const { workspaceId } = actor
    const pipeId = pipeOf(output) ?? undefined
    const dataStoreId = pipeId ? (await findPipe(tx, actor, pipeId)).destinations[0]!.dataStoreId : uuidv7()
    const example = { outputId: output.id, name: output.name, pipeId, dataStoreId }
    const body = exampleBody(kind, { id, at, test: true }, example)
    const written = { id, workspaceId, pipeId, kind, test: true, body, to: [output], missed: null } as const
    const [deliveryId] = await writeEvents(tx, queue, [written], at)
    return showDelivery({ db: tx, clock }, actor, deliveryId!)
  })
}

type Example = { outputId: string; name: string; pipeId: string | undefined; dataStoreId: string }

/** The example in the API description, which is also sent as a test event. */
export function exampleBody(kind: EventKind, frame: EventFrame, example: Example): string {
  if (kind === 'file.status_changed')
    return fileEventBody({ ...frame, file: exampleFile(example, uuidv7(frame.at.getTime())) })
  return eventBody(kind, frame, EXAMPLES[kind](frame.at, example))
}

const FILE = {
  filename: 'example.txt',
  filetype: 'text/plain',
  protocol: 'tus',
  subject: null,
  metadata: {},
  uploadMetadata: {},
}

function exampleFile(
  { pipeId = newPipeId(), dataStoreId }: Example,
  id: string,
): Parameters<typeof fileEventBody>[0]['file'] {
  return {
    ...FILE,
    id,
    pipeId,
    status: 'transferred',
    sizeBytes: 13,
    senderName: 'Test',
    // The CRC32 of `Hello, world!`
    crc32: 0xebe6c6e6,
    destinations: [
      {
        dataStoreId,
        status: 'transferred',
        bucket: 'example-bucket',
        key: `${id}/${FILE.filename}`,
        required: true,
        etag: '"6cd3556deb0da54bca060b4c39479839"',
      },
    ],
  }
}

type Others = Exclude<EventKind, 'file.status_changed'>
const earlier = (at: Date) => new Date(at.getTime() - days(1)).toISOString()
const dataStore = ({ dataStoreId }: Example) => ({
  data_store_id: dataStoreId,
  name: 'Example bucket',
  bucket: 'example-bucket',
})

const EXAMPLES: { [Kind in Others]: (at: Date, example: Example) => EventData<Kind> } = {
  'file.created': (at, { pipeId = newPipeId() }) => ({
    pipe_id: pipeId,
    file_id: uuidv7(at.getTime()),
    ...FILE,
    status: 'uploading',
    size: 13,
    sender: 'Test',
  }),
  'batch.completed': (at, { pipeId = newPipeId() }) => ({
    pipe_id: pipeId,
    batch_id: randomUUID(),
    batch: 'order-17',
    namedBy: 'token',
    sender: 'Test',
    subject: null,
    sealedAt: earlier(at),
    total: 1,
    transferred: 1,
    partially_transferred: 0,
    failed: 0,
    expired: 0,
    canceled: 0,
    files: [{ file_id: uuidv7(at.getTime()), status: 'transferred' }],
  }),
  'data_store.failing': (at, example) => ({
    ...dataStore(example),
    reason: 'AccessDenied: the credentials may not put objects into this bucket.',
    failingSince: earlier(at),
  }),
  'data_store.recovered': (at, example) => ({ ...dataStore(example), failingSince: earlier(at) }),
  'output.turned_off': (at, { outputId, name, pipeId = null }) => ({
    output_id: outputId,
    pipe_id: pipeId,
    name,
    reason: 'The receiver responded with 410 Gone.',
    turnedOffAt: at.toISOString(),
  }),
  'usage.threshold': (at) => ({
    month: at.toISOString().slice(0, 7),
    percent: 80,
    usedBytes: 8_000_000_000,
    limitBytes: 10_000_000_000,
    resetsAt: new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1)).toISOString(),
  }),
}
