import { z } from 'zod'
import type { Hook } from '#drizzle/schema/index.ts'
import { aboutSender, declaredFile, sha256 } from '../events/event-schemas.ts'
import { beforeCompleteAnswer, beforeCreateAnswer } from './answers.ts'

/** The format of questions, which receivers can rely on. It allows unknown fields, so fields can be added. */
const DATA = {
  before_create: z.object({
    ...declaredFile,
    size: z
      .int()
      .min(0)
      .nullable()
      .describe('Size in bytes as declared by the client; null if declared later'),
    ...aboutSender,
    token: z.object({
      id: z.string(),
      keyPrefix: z.string(),
      maxBytes: z.int().nullable(),
      maxFiles: z.int().nullable(),
      allowedTypes: z.array(z.string()),
    }),
  }),
  before_complete: z.object({
    ...declaredFile,
    size: z.int().min(0).describe('Size in bytes, all of which are durable'),
    ...aboutSender,
    checksum: z
      .string()
      .regex(/^crc32:[0-9a-f]{8}$/)
      .describe('Checksum of the entire file'),
    sha256: sha256.optional().describe('SHA-256 of the entire file, if the Pipe computes it'),
    destinations: z.array(
      z.object({
        destinationId: z.uuid().describe('Id of the Data Store'),
        bucket: z.string(),
        key: z.string().describe("The object's future key"),
        required: z.boolean(),
      }),
    ),
  }),
} satisfies Record<Hook, z.ZodObject>

export const questionSchema = (hook: Hook) =>
  z
    .object({
      id: z.string().describe('The same each time you are asked about a file'),
      hook: z.literal(hook),
      timestamp: z.iso.datetime({ precision: 3 }),
      test: z.literal(true).optional().describe('Only present in a test, which is not about a real file'),
      data: DATA[hook],
    })
    .meta({ title: hook, description: "A decision hook's question." })

export const ANSWER_SCHEMAS = {
  before_create: beforeCreateAnswer,
  before_complete: beforeCompleteAnswer,
} satisfies Record<Hook, z.ZodType>
