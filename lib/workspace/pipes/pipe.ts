import { z } from 'zod'
import type { pipes } from '#drizzle/schema/index.ts'
import { bytesField, nameField, toAnswer } from '../../platform/kernel/parse-input.ts'
import { destinationsField, type PipeDestination } from './destinations.ts'
import { DEFAULT_KEY_TEMPLATE, keyTemplateFault } from './key-template.ts'
import { pipeObjectField } from './object-settings.ts'

/** A media type or a range of media types, such as `image/png` or `image/*` (RFC 9110, 8.3.1). */
const mediaRangeField = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^[a-z0-9!#$&^_.+-]+\/([a-z0-9!#$&^_.+-]+|\*)$/, 'must be a media type such as image/png or image/*')

const MAX_TYPES_CHARACTERS = 4096

/** Every token stores its own list, so the total size is limited, too. */
export const allowedTypesField = z
  .array(mediaRangeField)
  .max(100, 'must have at most 100 entries')
  .refine(
    (types) => types.join('').length <= MAX_TYPES_CHARACTERS,
    `must have at most ${MAX_TYPES_CHARACTERS} characters in total`,
  )

const originField = z
  .string()
  .max(255, 'must have at most 255 characters')
  .transform((text, context) => {
    const url = URL.canParse(text) ? new URL(text) : undefined
    if (url && /^https?:$/.test(url.protocol) && url.pathname === '/' && !url.search && !url.hash)
      return url.origin
    context.addIssue({ code: 'custom', message: 'must be an origin such as https://www.example.com' })
    return z.NEVER
  })

const keyTemplateField = z.string().superRefine((template, context) => {
  const fault = keyTemplateFault(template)
  if (fault) context.addIssue({ code: 'custom', message: fault })
})

const fields = {
  name: nameField,
  source: z.strictObject({
    http: z.boolean().optional(),
    url: z.boolean().optional(),
    sftp: z.boolean().optional(),
    /** FTP over TLS. */
    ftps: z.boolean().optional(),
    /** FTP without encryption, which the server also has to allow. */
    ftp: z.boolean().optional(),
  }),
  keyTemplate: keyTemplateField,
  maxFileBytes: bytesField.nullable(),
  allowedTypes: allowedTypesField,
  allowedOrigins: z.array(originField).max(100, 'must have at most 100 entries'),
  uploadExpirySeconds: z
    .int('must be a whole number')
    .min(3600, 'must be at least 3600 (an hour)')
    .max(2_592_000, 'must be at most 2592000 (30 days)'),
  /**
   * Whether every new token must name the uploader, so that nobody else's token can continue or cancel their uploads.
   */
  requireSubject: z.boolean(),
  /** Whether a file's first bytes must match its declared type. If they do not, none of its bytes reach a bucket. */
  verifyContent: z.boolean(),
  /**
   * Whether the SHA-256 of each file is computed as its bytes arrive. The files are then not divided into lanes, and
   * partial uploads cannot be joined.
   */
  computeSha256: z.boolean(),
  /**
   * The headers and tags stored with each object. Metadata and tag values may contain the fields of a key template.
   */
  object: pipeObjectField.nullable(),
}

/** The Pipe's destinations: either a list, or a single Data Store, which is then a required destination. */
const where = {
  dataStoreId: z.uuid('must be the id of a Data Store').optional(),
  destinations: destinationsField.optional(),
}
type Where = { dataStoreId?: string | undefined; destinations?: PipeDestination[] | undefined }

/**
 * Clients may send a response back as input: it contains both fields, and `dataStoreId` is the first of the
 * `destinations`.
 */
function assertOnePlace({ dataStoreId, destinations }: Where, context: z.RefinementCtx): void {
  // `destinationsField` reports an empty list.
  if (!dataStoreId || !destinations?.[0] || destinations[0].dataStoreId === dataStoreId) return
  const message = 'must be the first of the destinations, or left out'
  context.addIssue({ code: 'custom', path: ['dataStoreId'], message })
}

const listed = ({ dataStoreId, destinations }: Where): PipeDestination[] | undefined =>
  destinations ?? (dataStoreId === undefined ? undefined : [{ dataStoreId, required: true }])

export const pipeInput = z
  .strictObject({
    ...fields,
    ...where,
    source: fields.source.default({ http: false }),
    keyTemplate: fields.keyTemplate.default(DEFAULT_KEY_TEMPLATE),
    maxFileBytes: fields.maxFileBytes.default(null),
    allowedTypes: fields.allowedTypes.default([]),
    allowedOrigins: fields.allowedOrigins.default([]),
    uploadExpirySeconds: fields.uploadExpirySeconds.default(604_800),
    requireSubject: fields.requireSubject.default(false),
    verifyContent: fields.verifyContent.default(false),
    computeSha256: fields.computeSha256.default(false),
    object: fields.object.default(null),
  })
  .superRefine(assertOnePlace)
  .transform(({ dataStoreId, destinations, ...rest }, context) => {
    const list = listed({ dataStoreId, destinations })
    if (list) return { ...rest, destinations: list }
    const message = 'is required, unless destinations is set'
    context.addIssue({ code: 'custom', path: ['dataStoreId'], message })
    return z.NEVER
  })
  // The JSON Schema does not show that either `dataStoreId` or `destinations` is required, so this example does.
  .meta({
    example: {
      name: 'Video uploads',
      destinations: [
        { dataStoreId: '019ab1c2-7d3e-7a41-9c55-2f0e8d6b1a90' },
        { dataStoreId: '019ab1c2-7d3e-7a41-9c55-2f0e8d6b1a91', required: false },
      ],
    },
  })
export type PipeInput = z.output<typeof pipeInput>

export const pipeChanges = z
  .strictObject({ ...fields, ...where })
  .partial()
  .superRefine(assertOnePlace)
  .transform(({ dataStoreId, destinations, ...rest }) => {
    const list = listed({ dataStoreId, destinations })
    return { ...rest, ...(list && { destinations: list }) }
  })
export type PipeChanges = z.output<typeof pipeChanges>

export const pipeAnswer = z.strictObject({
  id: z.string(),
  name: z.string(),
  /** The first destination. */
  dataStoreId: z.uuid(),
  destinations: z.array(z.strictObject({ dataStoreId: z.uuid(), required: z.boolean() })),
  source: z.strictObject({
    http: z.boolean(),
    url: z.boolean(),
    sftp: z.boolean(),
    ftps: z.boolean(),
    ftp: z.boolean(),
  }),
  keyTemplate: z.string(),
  maxFileBytes: z.int().nullable(),
  allowedTypes: z.array(z.string()),
  allowedOrigins: z.array(z.string()),
  uploadExpirySeconds: z.int(),
  requireSubject: z.boolean(),
  verifyContent: z.boolean(),
  computeSha256: z.boolean(),
  object: pipeObjectField.nullable(),
  uploadUrl: z.string(),
  createdAt: z.iso.datetime(),
})
export type Pipe = z.output<typeof pipeAnswer>

/** A Pipe's TUS endpoint. */
export function uploadUrlOf(config: { uploadUrl: string }, pipeId: string): string {
  return `${config.uploadUrl}/pipes/${pipeId}/files/`
}

export function toPipe(
  row: typeof pipes.$inferSelect,
  destinations: PipeDestination[],
  config: { uploadUrl: string },
): Pipe {
  return toAnswer(pipeAnswer, {
    ...row,
    dataStoreId: destinations[0]!.dataStoreId,
    destinations,
    source: {
      http: row.sourceHttp,
      url: row.sourceUrl,
      sftp: row.sourceSftp,
      ftps: row.sourceFtps,
      ftp: row.sourceFtp,
    },
    uploadUrl: uploadUrlOf(config, row.id),
  })
}
