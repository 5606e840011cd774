import { z } from 'zod'
import { DESTINATION_REASONS } from '#drizzle/schema/files.ts'
import type { EventKind } from '#drizzle/schema/pipes.ts'

/** The payloads as their receivers may rely on them, published as JSON Schema. Fields may be added, so they are left open. */
const strings = z.record(z.string(), z.string())

const destination = z.object({
  destinationId: z.uuid().describe('Id of the Data Store'),
  status: z.enum(['pending', 'transferring', 'transferred', 'failed']),
  bucket: z.string(),
  key: z.string().describe('Key of the object in the bucket'),
  etag: z.string().nullable().describe('As the bucket gave it'),
  required: z.boolean().describe('False: best effort, which neither delays nor fails an upload'),
  reason: z
    .enum(DESTINATION_REASONS)
    .optional()
    .describe('Why it failed; unknown: the object may be there, nobody can tell'),
  certainty: z
    .literal('inferred')
    .optional()
    .describe(
      'Transferred, by what the bucket said when it was asked again: its response to the upload was lost',
    ),
})

export const declaredFile = {
  pipe_id: z.string(),
  file_id: z.uuid(),
  filename: z.string().describe('As the client sent it'),
  filetype: z.string().nullable().describe('Media type that the client declared'),
}
export const aboutSender = {
  sender: z.string().describe('Name of the Sender whose token was used'),
  protocol: z.string().describe('tus, resumable-http, http or url: the protocol by which the file came'),
  subject: z.string().nullable().describe('Your own id of the person, from the token'),
  metadata: strings.describe('What your backend fixed in the token; a browser cannot change it'),
  uploadMetadata: strings.describe('What the client sent beside filename and filetype; do not trust it'),
}

const endedFile = z.object({
  ...declaredFile,
  status: z.enum(['transferred', 'partially_transferred', 'failed', 'expired', 'canceled']),
  size: z.int().min(0).describe('Bytes; of a file that did not finish, those that arrived'),
  ...aboutSender,
  checksum: z
    .string()
    .regex(/^crc32:[0-9a-f]{8}$/)
    .nullable()
    .describe('Of the whole object'),
  decision: z
    .object({
      state: z.enum(['allowed', 'rejected']),
      reason: z.string().nullable().describe('Why it was rejected'),
      result: z.unknown().describe('What the uploader was handed'),
    })
    .optional()
    .describe('Of the hook that decides before there is an object, if the Pipe has one'),
  destinations: z.array(destination),
})

const createdFile = z.object({
  ...declaredFile,
  status: z.literal('uploading'),
  size: z.int().min(0).nullable().describe('Bytes that the client declared; null if it will only tell later'),
  ...aboutSender,
})

const count = (what: string) => z.int().min(0).describe(what)

const instant = z.iso.datetime({ precision: 3 })
const completedBatch = z.object({
  pipe_id: z.string(),
  batch_id: z.uuid(),
  batch: z.string().describe('Its name'),
  namedBy: z.enum(['token', 'uploader']).describe('Do not trust the name that an uploader gave'),
  sender: z.string().describe('Name of the Sender whose tokens were used'),
  subject: z.string().nullable().describe('Your own id of the person, from the tokens'),
  sealedAt: instant,
  total: count('How many files it had'),
  transferred: count('How many of them are in your buckets'),
  partially_transferred: count('How many are in all required ones'),
  failed: count('How many failed'),
  expired: count('How many were not finished in time'),
  canceled: count('How many were canceled'),
  files: z
    .array(
      z.object({
        file_id: z.uuid(),
        status: z.enum(['transferred', 'partially_transferred', 'failed', 'expired', 'canceled']),
      }),
    )
    .describe('In the order of their creation, the first 5,000; GET /files?batchId= lists all'),
})
const dataStore = { data_store_id: z.uuid(), name: z.string(), bucket: z.string() }

const failingStore = z.object({
  ...dataStore,
  reason: z.string().nullable().describe('What the bucket answered, in words'),
  failingSince: instant,
})
const recoveredStore = z.object({ ...dataStore, failingSince: instant })

const turnedOffOutput = z.object({
  output_id: z.uuid(),
  pipe_id: z.string().nullable().describe('Null for an output of the whole workspace'),
  name: z.string(),
  reason: z.string(),
  turnedOffAt: instant,
})

const usage = z.object({
  month: z.string().describe('In UTC, as in 2026-11'),
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

/** What an event of a kind tells. */
export type EventData<Kind extends EventKind> = z.infer<(typeof DATA)[Kind]>

export const eventSchema = <Kind extends EventKind>(kind: Kind) =>
  z
    .object({
      id: z
        .uuid()
        .describe('Id of the event, the same in every attempt: use it to recognize one that you have seen'),
      event: z.literal(kind),
      timestamp: instant.describe(
        kind === 'file.status_changed' ? 'When the status changed, in UTC' : 'When it happened, in UTC',
      ),
      test: z.literal(true).optional().describe('There in test events only'),
      data: DATA[kind],
    })
    .meta({ title: kind, description: 'The body of a Sluice webhook.' })

export const fileEventSchema = eventSchema('file.status_changed')
