import { z } from 'zod'
import type { Place, Vault } from '../../platform/vault.ts'

/**
 * Request headers that a receiver requires, such as an API key. Their values are secrets: sealed in the row, never
 * shown again, and hidden in the log.
 */
export type StaticHeaders = Record<string, string>

const MOST = 10
const MAX_VALUE = 2000

/** Headers that Sluice sets, or that determine how the request is framed. */
const OWN = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'expect',
  'host',
  'keep-alive',
  'te',
  'traceparent',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'webhook-id',
  'webhook-signature',
  'webhook-timestamp',
  'x-request-id',
  'x-service-signature',
])

/** RFC 9110, 5.6.2 and 5.5, limited to ASCII: other characters are interpreted inconsistently. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/

export const staticHeadersField = z
  .record(z.string(), z.string())
  .superRefine((headers, { addIssue }) => {
    const names = Object.keys(headers)
    const refuse = (message: string, path: string[] = []) => addIssue({ code: 'custom', message, path })
    if (names.length > MOST) refuse(`must have at most ${MOST} headers`)
    const lower = names.map((name) => name.toLowerCase())
    for (const [index, name] of names.entries()) {
      if (!NAME.test(name)) refuse(`“${name.slice(0, 100)}” is not a valid header name`)
      else if (isOwn(lower[index]!)) refuse('is set by Sluice or by the connection', [name])
      else if (lower.indexOf(lower[index]!) !== index) refuse('appears twice', [name])
      if (headers[name]!.length > MAX_VALUE) refuse(`must have at most ${MAX_VALUE} characters`, [name])
      else if (!VALUE.test(headers[name]!))
        refuse('must be visible ASCII characters, with spaces only in between', [name])
    }
  })
  .meta({
    description:
      'These headers replace all previous ones; {} removes all of them. Their values are never shown again.',
  })

const isOwn = (name: string) => OWN.has(name) || name.startsWith('proxy-')

export const headersPlace = (id: string): Place => ({
  column: 'webhook_outputs.headers_encrypted',
  id,
  row: `webhook_output:${id}`,
})

export function openHeaders(
  vault: Vault,
  { id, headersEncrypted }: { id: string; headersEncrypted: string | null },
): StaticHeaders {
  return headersEncrypted === null ? {} : JSON.parse(vault.open(headersEncrypted, headersPlace(id)))
}

/** Replaces the values of static headers in the log. */
export const HIDDEN = '(hidden)'
