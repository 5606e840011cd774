import { z } from 'zod'
import { DESTINATION_REASONS, FILE_PROTOCOLS } from '#drizzle/schema/files.ts'
import type { EventKind } from '#drizzle/schema/pipes.ts'

/** The payloads that receivers can rely on, published as JSON Schema. Unknown fields are allowed. */
const strings = z.record(z.string(), z.string())

const destination = z.object({
  destinationId: z.uuid().describe('Id of the Data Store'),
  status: z.enum(['pending', 'transferring', 'transferred', 'failed']),
  bucket: z.string(),
  key: z.string().describe('Object key in the bucket'),
  etag: z.string().nullable().describe('ETag as returned by the bucket'),
  required: z
    .boolean()
    .describe('If false, the destination is best effort, and neither delays nor fails an upload'),
  reason: z
    .enum(DESTINATION_REASONS)
    .optional()
    .describe('Why it failed; unknown means that Sluice cannot determine whether the object exists'),
  certainty: z
    .literal('inferred')
    .optional()
    .describe("Inferred from the bucket's later responses, because its response to the upload was lost"),
})

export const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
export const declaredFile = {
  pipe_id: z.string(),
  file_id: z.uuid(),
  filename: z.string().describe('File name as sent by the client'),
  filetype: z.string().nullable().describe('Media type declared by the client'),
}
export const aboutSender = {
  sender: z.string().describe('Name of the Sender whose token was used'),
  protocol: z.string().describe(`The protocol used for the upload: ${FILE_PROTOCOLS.join(', ')}`),
  subject: z.string().nullable().describe('Your own id for the person, from the token'),
  metadata: strings.describe('Set by your backend in the token; a browser cannot change it'),
  uploadMetadata: strings.describe(
    'Sent by the client in addition to filename and filetype; do not trust it',
  ),
}

const endedFile = z.object({
  ...declaredFile,
  status: z.enum(['transferred', 'partially_transferred', 'failed', 'expired', 'canceled']),
  size: z.int().min(0).describe('Bytes; for an unfinished file, the bytes received'),
  ...aboutSender,
  checksum: z
    .string()
    .regex(/^crc32:[0-9a-f]{8}$/)
    .nullable()
    .describe('Checksum of the entire object'),
  sha256: sha256.optional().describe('SHA-256 of the entire object, if the Pipe computes it'),
  decision: z
    .object({
      state: z.enum(['allowed', 'rejected']),
      reason: z.string().nullable().describe('Why the file was rejected'),
      result: z.unknown().describe('The result returned to the uploader'),
    })
    .optional()
    .describe('Answer of the before_complete hook, if the Pipe has one'),
  destinations: z.array(destination),
})

const createdFile = z.object({
  ...declaredFile,
  status: z.literal('uploading'),
  size: z.int().min(0).nullable().describe('Size in bytes as declared by the client; null if declared later'),
  ...aboutSender,
})

const count = (what: string) => z.int().min(0).describe(what)

const instant = z.iso.datetime({ precision: 3 })
const completedBatch = z.object({
  pipe_id: z.string(),
  batch_id: z.uuid(),
  batch: z.string().describe('Name of the batch'),
  namedBy: z.enum(['token', 'uploader']).describe('Do not trust a name set by an uploader'),
  sender: z.string().describe('Name of the Sender whose tokens were used'),
  subject: z.string().nullable().describe('Your own id for the person, from the tokens'),
  sealedAt: instant,
  total: count('How many files the batch contains'),
  transferred: count('How many of the files are in your buckets'),
  partially_transferred: count('How many of the files are in all required buckets, but missing from others'),
  failed: count('How many of the files failed'),
  expired: count('How many of the files were not finished in time'),
  canceled: count('How many of the files were canceled'),
  files: z
    .array(
      z.object({
        file_id: z.uuid(),
        status: z.enum(['transferred', 'partially_transferred', 'failed', 'expired', 'canceled']),
      }),
    )
    .describe('The first 5,000 files, in order of creation; GET /files?batchId= lists all of them'),
})
const dataStore = { data_store_id: z.uuid(), name: z.string(), bucket: z.string() }

const failingStore = z.object({
  ...dataStore,
  reason: z.string().nullable().describe("The bucket's response, in words"),
  failingSince: instant,
})
const recoveredStore = z.object({ ...dataStore, failingSince: instant })

const turnedOffOutput = z.object({
  output_id: z.uuid(),
  pipe_id: z.string().nullable().describe('Null for a workspace output'),
  name: z.string(),
  reason: z.string(),
  turnedOffAt: instant,
})

const usage = z.object({
  month: z.string().describe('Month in UTC, such as 2026-11'),
  percent: z.union([z.literal(80), z.literal(100)]),
  usedBytes: z.int().min(0),
  limitBytes: z.int().min(0),
  resetsAt: instant,
})

const DATA = {
  'file.status_changed': endedFile,
  'file.created': createdFile,
  'batch.completed': completedBatch,
  'data_store.failing': failingStore,
  'data_store.recovered': recoveredStore,
  'output.turned_off': turnedOffOutput,
  'usage.threshold': usage,
} satisfies Record<EventKind, z.ZodObject>

/** The content of an event, by kind. */
export type EventData<Kind extends EventKind> = z.infer<(typeof DATA)[Kind]>

export const eventSchema = <Kind extends EventKind>(kind: Kind) =>
  z
    .object({
      id: z.uuid().describe('Event id, the same in every attempt: use it to recognize duplicates'),
      type: z
        .literal(kind)
        .optional()
        .describe(
          'The same as event, as Standard Webhooks names it. Events from before an upgrade may not have it',
        ),
      event: z.literal(kind),
      timestamp: instant.describe(
        kind === 'file.status_changed'
          ? 'When the status changed, in UTC'
          : 'When the event happened, in UTC',
      ),
      test: z.literal(true).optional().describe('Only present in test events'),
      data: DATA[kind],
    })
    .meta({ title: kind, description: 'The body of a Sluice webhook.' })

export const fileEventSchema = eventSchema('file.status_changed')
