import { z } from 'zod'
import {
  type FileObject,
  OBJECT_SETTINGS,
  type ObjectSettings,
  type PipeObject,
} from '#drizzle/schema/index.ts'
import { encryptionField, storageClassField } from '../object-fields.ts'
import {
  cleanFilename,
  type FileFacts,
  fieldFault,
  fillIn,
  longest,
  parse,
  valuesOf,
} from './placeholders.ts'

/**
 * The headers that S3 stores with an object. A Pipe sets them, and so can a token if the Pipe allows it. The uploading
 * client cannot set any.
 */

export { type FileObject, OBJECT_SETTINGS, type ObjectStorage } from '#drizzle/schema/index.ts'

/** S3 allows 2 KB of metadata and ten tags. If tokens may also set them, the Pipe and the token each get half. */
const MAX_METADATA_BYTES = 2048
const MAX_TAGS = 10
const MAX_TAG_CHARACTERS = 256

const templateField = z.string().superRefine((template, context) => {
  const fault = templateFault(template)
  if (fault) context.addIssue({ code: 'custom', message: fault })
})

function templateFault(template: string): string | undefined {
  if (template.trim() === '') return 'must not be empty'
  if (template !== template.trim()) return 'must not start or end with a space'
  if (/\p{Cc}|\p{Cs}/u.test(template)) return 'must not contain control characters'
  return fieldFault(parse(template))
}

/** Part of a header name (RFC 9110, 5.6.2), in lower case, as S3 returns it. */
const metadataName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_.-]{0,99}$/, 'must have a name of lower-case letters, digits, _ . or -')

/** AWS allows letters, spaces and digits from any language, and some symbols. */
const TAG_CHARACTERS = String.raw`\p{L}\p{N}\p{Zs}_.:/=+@-`
const NOT_IN_TAGS = new RegExp(`[^${TAG_CHARACTERS}]`, 'gu')
const tagName = z
  .string()
  .regex(
    new RegExp(`^[${TAG_CHARACTERS}]{1,128}$`, 'u'),
    'must have a name of 1 to 128 letters, digits, spaces or _ . : / = + - @',
  )
  .refine((name) => !name.toLowerCase().startsWith('aws:'), 'must not have a name that starts with aws:')
const tagValue = templateField
  .max(MAX_TAG_CHARACTERS, `must have at most ${MAX_TAG_CHARACTERS} characters`)
  .refine(
    (template) => parse(template).every((piece) => 'field' in piece || piece.text.search(NOT_IN_TAGS) === -1),
    'must only contain letters, digits, spaces and _ . : / = + - @',
  )

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const DIRECTIVE = `${TOKEN}(?:=(?:${TOKEN}|"[ !#-\\[\\]-~]*"))?`
/** RFC 9111, 5.2. */
const CACHE_CONTROL = new RegExp(`^${DIRECTIVE}(?: ?, ?${DIRECTIVE})*$`)

const isNotEmpty = (pairs: object) => Object.keys(pairs).length > 0

const fields = {
  metadata: z.record(metadataName, templateField).refine(isNotEmpty, 'must have an entry, or be left out'),
  cacheControl: z
    .string()
    .max(256, { message: 'must have at most 256 characters', abort: true })
    .regex(CACHE_CONTROL, 'must look like public, max-age=31536000, immutable'),
  contentDisposition: z.enum(['inline', 'attachment'], 'must be inline or attachment'),
  storageClass: storageClassField,
  tags: z.record(tagName, tagValue).refine(isNotEmpty, 'must have an entry, or be left out'),
  encryption: encryptionField,
} satisfies Record<keyof ObjectSettings, z.ZodType>

const settings = z.strictObject(fields).partial()

/** Checks that metadata and tags fit into the space that the Pipe and its tokens may share. */
function assertFits(
  { metadata = {}, tags = {} }: ObjectSettings,
  share: Share,
  context: z.RefinementCtx,
): void {
  const bytes = Object.entries(metadata).reduce(
    (sum, [name, template]) => sum + Buffer.byteLength(name) + longest(parse(template)),
    0,
  )
  const half = (shared: boolean) => (shared ? ', since tokens and the Pipe share the space' : '')
  const maxBytes = share.metadata ? MAX_METADATA_BYTES / 2 : MAX_METADATA_BYTES
  if (bytes > maxBytes)
    context.addIssue({
      code: 'custom',
      path: ['metadata'],
      message: `must have at most ${maxBytes} bytes, including names, with a filename counted as 255${half(share.metadata)}`,
    })
  const maxTags = share.tags ? MAX_TAGS / 2 : MAX_TAGS
  if (Object.keys(tags).length > maxTags)
    context.addIssue({
      code: 'custom',
      path: ['tags'],
      message: `must have at most ${maxTags} entries${half(share.tags)}`,
    })
}

type Share = { metadata: boolean; tags: boolean }

export const pipeObjectField = z
  .strictObject({
    ...settings.shape,
    tokensMaySet: z
      .array(z.enum(OBJECT_SETTINGS, `must be one of ${OBJECT_SETTINGS.join(', ')}`))
      .min(1, 'must have an entry, or be left out')
      .refine((all) => new Set(all).size === all.length, 'must not contain an entry twice')
      .optional(),
  })
  .refine(isNotEmpty, 'must contain at least one setting, or be null')
  .superRefine((object, context) => {
    const shares = (name: keyof ObjectSettings) => object.tokensMaySet?.includes(name) ?? false
    assertFits(object, { metadata: shares('metadata'), tags: shares('tags') }, context)
  })

export const tokenObjectField = settings
  .refine(isNotEmpty, 'must contain at least one setting, or be left out')
  .superRefine((object, context) => assertFits(object, { metadata: true, tags: true }, context))

/** A file's object settings, omitting those that were not set. */
export const fileObjectAnswer = z.strictObject({
  ...settings.shape,
  metadata: z.record(z.string(), z.string()).optional(),
  tags: z.record(z.string(), z.string()).optional(),
  contentDisposition: z.string().optional(),
})

/**
 * A new file's settings: those of its Pipe, with those of its token if the Pipe lets tokens set them. Null if there
 * are none.
 */
export function objectOf(
  pipe: PipeObject | null,
  token: ObjectSettings | null,
  facts: FileFacts,
): FileObject | null {
  if (!pipe) return null
  const { tokensMaySet = [], ...own } = pipe
  const given = Object.fromEntries(tokensMaySet.map((name) => [name, token?.[name]])) as ObjectSettings
  const merged: ObjectSettings = { ...own, ...definedOf(given) }
  const values = valuesOf(facts)
  const fill = (template: string) => fillIn(parse(template), values)
  const metadata = mapValues({ ...own.metadata, ...given.metadata }, fill)
  const tags = mapValues({ ...own.tags, ...given.tags }, (template) => tagOf(fill(template)))
  const { contentDisposition } = merged
  const object: FileObject = {
    ...merged,
    metadata,
    tags,
    contentDisposition: contentDisposition && dispositionOf(contentDisposition, facts.filename),
  }
  return isNotEmpty(definedOf(object)) ? definedOf(object) : null
}

function mapValues(
  pairs: Record<string, string>,
  map: (value: string) => string,
): Record<string, string> | undefined {
  // Empty values are left out, such as {path} for a file without a folder.
  const mapped = Object.entries(pairs)
    .map(([name, value]) => [name, map(value)])
    .filter(([, value]) => value !== '')
  return mapped.length > 0 ? Object.fromEntries(mapped) : undefined
}

const definedOf = <T extends object>(object: T): T =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T

const tagOf = (text: string) => [...text.replace(NOT_IN_TAGS, '_')].slice(0, MAX_TAG_CHARACTERS).join('')

/** RFC 6266: an ASCII name for old clients, and the real name (RFC 8187) if it differs. */
function dispositionOf(type: 'inline' | 'attachment', filename: string): string {
  const name = cleanFilename(filename)
  const ascii = name.replace(/[^ !#$&-[\]-~]/gu, '_')
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `${type}; filename="${ascii}"${ascii === name ? '' : `; filename*=UTF-8''${encoded}`}`
}
