import { z } from 'zod'
import { invalidRequest } from '../platform/kernel/errors.ts'
import { MOST_ENTRIES } from '../platform/kernel/parse-input.ts'
import type { Place, Vault } from '../platform/vault.ts'
import { staticHeadersField } from '../webhooks/outputs/static-headers.ts'
import { tokenInput } from '../workspace/tokens/token.ts'

const urlField = z
  .string()
  .trim()
  .max(4096, 'must have at most 4096 characters')
  .transform((text, context) => {
    const url = URL.parse(text)
    const refuse = (message: string) => {
      context.addIssue({ code: 'custom', message })
      return z.NEVER
    }
    if (!url || !/^https?:$/.test(url.protocol)) return refuse('must be an address such as https://host/file')
    if (url.username || url.password)
      return refuse('must not contain a user name or password: send them in headers, such as Authorization')
    url.hash = ''
    return url.href
  })

const sha256Field = z
  .string()
  .toLowerCase()
  .regex(/^sha-256:[0-9a-f]{64}$/, 'must be sha-256: followed by 64 hexadecimal digits')

const { pipeId, maxBytes, keyPrefix, subject, metadata, object, batch } = tokenInput.shape

/** The source of one file. */
const source = {
  url: urlField,
  /** Headers for the source. They are only sent to the URL's origin, not to another origin that it redirects to. */
  headers: staticHeadersField.optional(),
  /** Defaults to the last segment of the URL's path. */
  filename: z.string().min(1, 'must not be empty').max(255, 'must have at most 255 characters').optional(),
  /** The digest is verified before the object is created. */
  digest: sha256Field.optional(),
}
export type ImportedFrom = { url: string; headers?: Record<string, string> | undefined } & Named
type Named = { filename?: string | undefined; digest?: string | undefined }

/** The fields that apply to all files in a request, with the same meaning as for a token. */
const common = { pipeId, maxBytes, keyPrefix, subject, metadata, object, batch }

export const importInput = z.strictObject({ ...common, ...source })
export type ImportInput = z.output<typeof importInput>

export const importsInput = z.strictObject({
  ...common,
  files: z
    .array(z.strictObject(source))
    .min(1, 'must have at least one entry')
    .max(MOST_ENTRIES, `must have at most ${MOST_ENTRIES} entries`),
})
export type ImportsInput = z.output<typeof importsInput>

const pastedInput = z
  .array(urlField)
  .min(1, 'must have at least one URL')
  .max(MOST_ENTRIES, `must have at most ${MOST_ENTRIES} URLs`)

/**
 * Reads one URL per line; a URL may contain spaces. The error quotes the invalid line, because a line is hard to find by
 * its number in a long list.
 */
export function parsePastedUrls(pasted: string): ImportedFrom[] {
  const texts = pasted
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
  const parsed = pastedInput.safeParse(texts)
  if (parsed.success) return parsed.data.map((url) => ({ url }))
  const [{ path, message }] = parsed.error.issues as [z.core.$ZodIssue]
  const [at] = path
  throw invalidRequest([
    { field: 'urls', message: typeof at === 'number' ? `“${texts[at]!.slice(0, 200)}” ${message}` : message },
  ])
}

/** The source to fetch, and the upload token that created the file. Any of these may be secret. */
export type SealedSource = { url: string; headers: Record<string, string>; token: string }

export const sourcePlace = (fileId: string): Place => ({
  column: 'imports.sealed',
  id: fileId,
  row: `import:${fileId}`,
})
export const hashStatePlace = (fileId: string): Place => ({
  column: 'imports.hash_state',
  id: fileId,
  row: `import:${fileId}`,
})

export function openSource(vault: Vault, fileId: string, sealed: string): SealedSource {
  return JSON.parse(vault.open(sealed, sourcePlace(fileId)))
}

/** The URL without its query, which often contains a secret: a signature or a token. */
export function shownUrlOf(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}

export function filenameOf({ url, filename }: ImportedFrom): string {
  const last = new URL(url).pathname.split('/').at(-1)!
  return filename ?? (decoded(last).slice(0, 255).toWellFormed() || 'file')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
