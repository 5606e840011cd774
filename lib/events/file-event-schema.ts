import { z } from 'zod'

/** The payload as its receivers may rely on it, published as JSON Schema. Fields may be added, so it is left open. */
const strings = z.record(z.string(), z.string())

const destination = z.object({
  destinationId: z.uuid().describe('Id of the Data Store'),
  status: z.enum(['pending', 'transferring', 'transferred', 'failed']),
  bucket: z.string(),
  key: z.string().describe('Key of the object in the bucket'),
  etag: z.string().nullable().describe('As the bucket gave it'),
  reason: z.literal('unknown').optional().describe('Failed, but the object may be there: nobody can tell'),
})

const data = z.object({
  pipe_id: z.string(),
  file_id: z.uuid(),
  filename: z.string().describe('As the client sent it'),
  filetype: z.string().nullable().describe('Media type that the client declared'),
  status: z.enum(['transferred', 'failed', 'expired', 'canceled']),
  size: z.int().min(0).describe('Bytes; of a file that did not finish, those that arrived'),
  sender: z.string().describe('Name of the Sender whose token was used'),
  protocol: z.string().describe('tus, resumable-http or http: the protocol by which the file came'),
  subject: z.string().nullable().describe('Your own id of the person, from the token'),
  metadata: strings.describe('What your backend fixed in the token; a browser cannot change it'),
  uploadMetadata: strings.describe('What the client sent beside filename and filetype; do not trust it'),
  checksum: z
    .string()
    .regex(/^crc32:[0-9a-f]{8}$/)
    .nullable()
    .describe('Of the whole object'),
  destinations: z.array(destination),
})

export const fileEventSchema = z
  .object({
    id: z
      .uuid()
      .describe('Id of the event, the same in every attempt: use it to recognize one that you have seen'),
    event: z.literal('file.status_changed'),
    timestamp: z.iso.datetime({ precision: 3 }).describe('When the status changed, in UTC'),
    test: z.literal(true).optional().describe('There in test events only'),
    data,
  })
  .meta({ title: 'file.status_changed', description: 'The body of a Sluice webhook.' })
