import { z } from 'zod'
import type { Hook } from '#drizzle/schema/index.ts'
import { aboutSender, declaredFile } from '../events/event-schemas.ts'
import { beforeCompleteAnswer, beforeCreateAnswer } from './answers.ts'

/** The questions as their receivers may rely on them. Fields may be added, so they are left open. */
const DATA = {
  before_create: z.object({
    ...declaredFile,
    size: z
      .int()
      .min(0)
      .nullable()
      .describe('Bytes that the client declared; null if it will only tell later'),
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
    size: z.int().min(0).describe('Bytes, all of which are durable'),
    ...aboutSender,
    checksum: z
      .string()
      .regex(/^crc32:[0-9a-f]{8}$/)
      .describe('Of the whole file'),
    destinations: z.array(
      z.object({
        destinationId: z.uuid().describe('Id of the Data Store'),
        bucket: z.string(),
        key: z.string().describe('Key that the object will have'),
        required: z.boolean(),
      }),
    ),
  }),
} satisfies Record<Hook, z.ZodObject>

export const questionSchema = (hook: Hook) =>
  z
    .object({
      id: z.string().describe('The same however often you are asked about a file'),
      hook: z.literal(hook),
      timestamp: z.iso.datetime({ precision: 3 }),
      test: z.literal(true).optional().describe('There in tests only, which are about no file'),
      data: DATA[hook],
    })
    .meta({ title: hook, description: 'What a decision hook asks.' })

export const ANSWER_SCHEMAS = {
  before_create: beforeCreateAnswer,
  before_complete: beforeCompleteAnswer,
} satisfies Record<Hook, z.ZodType>
