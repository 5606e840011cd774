import { z } from 'zod'
import type { tokens } from '#drizzle/schema/index.ts'
import { bytesField, isPlainText, toAnswer } from '../../platform/kernel/parse-input.ts'
import { keyPrefixField } from '../pipes/key-template.ts'
import { tokenObjectField } from '../pipes/object-settings.ts'
import { allowedTypesField } from '../pipes/pipe.ts'

const MAX_METADATA_PAIRS = 20

export const metadataField = z
  .record(
    z
      .string()
      .min(1, 'must have a name')
      .max(100, 'must have a name of at most 100 characters')
      .refine(isPlainText, 'must not contain control characters'),
    z
      .string()
      .max(1000, 'must have at most 1000 characters')
      .refine((text) => text.isWellFormed() && !text.includes('\0'), 'must be Unicode text'),
  )
  .refine((pairs) => Object.keys(pairs).length <= MAX_METADATA_PAIRS, `must have at most 20 pairs`)

export const batchField = z
  .string()
  .min(1, 'must not be empty')
  .max(200, 'must have at most 200 characters')
  .refine(isPlainText, 'must not contain control characters')

export const tokenInput = z.strictObject({
  pipeId: z.string().min(1, 'must not be empty').max(100, 'is not the id of a Pipe'),
  expiresIn: z
    .int('must be a whole number of seconds')
    .min(60, 'must be at least 60 seconds')
    .max(86_400, 'must be at most 86400 seconds (a day)')
    .default(3600),
  maxBytes: bytesField.optional(),
  maxFiles: z
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(1_000_000, 'must be at most 1000000')
    .optional(),
  allowedTypes: allowedTypesField.default([]),
  keyPrefix: keyPrefixField.default(''),
  subject: z
    .string()
    .min(1, 'must not be empty')
    .max(255, 'must have at most 255 characters')
    .refine(isPlainText, 'must not contain control characters')
    .optional(),
  metadata: metadataField.default({}),
  /** Replaces the Pipe's settings, or adds to its metadata and tags, if its `tokensMaySet` allows that. */
  object: tokenObjectField.optional(),
  /** The name of the batch for its files, which overrides a name sent by the client. */
  batch: batchField.optional(),
})
export type TokenInput = z.output<typeof tokenInput>

export const issuedTokenAnswer = z.strictObject({
  token: z.string(),
  expiresAt: z.iso.datetime(),
  pipeId: z.string(),
  uploadUrl: z.string(),
})
export type IssuedToken = z.output<typeof issuedTokenAnswer>

/** A token as the dashboard and the management API show it, without the secret. */
export const tokenAnswer = z.strictObject({
  id: z.uuid(),
  pipeId: z.string(),
  /** The Sender's name. */
  sender: z.string(),
  senderId: z.uuid(),
  subject: z.string().nullable(),
  expiresAt: z.iso.datetime(),
  maxBytes: z.int().nullable(),
  maxFiles: z.int().nullable(),
  filesCreated: z.int(),
  revokedAt: z.iso.datetime().nullable(),
  createdAt: z.iso.datetime(),
})
export type Token = z.output<typeof tokenAnswer>

export const toToken = (row: typeof tokens.$inferSelect, sender: string): Token =>
  toAnswer(tokenAnswer, { ...row, sender })
