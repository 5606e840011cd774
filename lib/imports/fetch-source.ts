import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { freeBuffer } from '../platform/kernel/free-buffer.ts'
import { type GetLimits, get } from '../platform/net/get.ts'
import type { GuardedAgents } from '../platform/net/guarded-agents.ts'
import { ImportFailure, sourceChanged, statusFailure } from './import-failure.ts'

/** The response's information about the file, and the offset at which the response body starts. */
export type Fetched = {
  startBytes: number
  /** The length of the entire file; null if it is unknown until the body ends. */
  lengthBytes: number | null
  filetype: string | null
  validator: string | null
  /** Undefined if the source has no bytes after the requested offset. */
  body: IncomingMessage | undefined
}

type Wanted = {
  url: string
  headers: Record<string, string>
  fromBytes: number
  /** The validator of the version that the existing bytes belong to. */
  validator: string | null
  /** The current time, because a Retry-After may be a date. */
  nowMs: number
}

/**
 * Requests the rest, from `fromBytes`, of the version of the file that the import started with. A source that does not
 * support this sends all bytes. A version without a validator is read from the start, to compare it with the existing bytes.
 */
export async function fetchSource(
  agents: GuardedAgents,
  { url, headers, fromBytes, validator, nowMs }: Wanted,
  limits: GetLimits,
  signal: AbortSignal,
): Promise<Fetched> {
  const range =
    fromBytes > 0 && validator !== null ? { Range: `bytes=${fromBytes}-`, 'If-Range': validator } : undefined
  const own = { 'User-Agent': 'Sluice-Import/1.0', Accept: '*/*', 'Accept-Encoding': 'identity', ...range }
  const response = await get(agents, { url, headers, own }, limits, signal)
  // Node's client copies the body out of 64 KiB socket buffers. This frees them without waiting for the garbage
  // collector.
  response.socket.on('data', freeBuffer)
  try {
    return describe(response, { askedBytes: range ? fromBytes : 0, expected: validator, nowMs })
  } catch (error) {
    response.destroy()
    throw error
  }
}

type Asked = { askedBytes: number; expected: string | null; nowMs: number }

function describe(response: IncomingMessage, { askedBytes, expected, nowMs }: Asked): Fetched {
  const { headers } = response
  const status = response.statusCode!
  const filetype = headers['content-type']?.slice(0, MAX_TYPE) ?? null
  if (status === 416 && askedBytes > 0) {
    if (/^bytes \*\/(\d+)$/.exec(headers['content-range'] ?? '')?.[1] !== String(askedBytes))
      throw sourceChanged()
    response.destroy()
    return { startBytes: askedBytes, lengthBytes: askedBytes, filetype, validator: expected, body: undefined }
  }
  if (status !== 200 && status !== 203 && status !== 206)
    throw statusFailure(status, headers['retry-after'], nowMs)
  assertPlain(headers)
  const validator = validatorOf(headers)
  if (status === 206) {
    if (validator !== null && expected !== null && validator !== expected) throw sourceChanged()
    return { ...partOf(headers, askedBytes), filetype, validator: expected, body: response }
  }
  const lengthBytes = lengthOf(headers)
  if (lengthBytes === null && !isChunked(headers))
    throw new ImportFailure(
      'The source does not say how long the file is or where it ends, so a broken connection would look like the end of the file.',
      { isFinal: true },
    )
  return { startBytes: 0, lengthBytes, filetype, validator, body: response }
}

const MAX_TYPE = 255

/**
 * RFC 9110, 12.5.3: the identity encoding was requested. With any other encoding, the stored file would not match its
 * name.
 */
function assertPlain(headers: IncomingHttpHeaders): void {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (encoding === 'identity' || encoding === '') return
  throw new ImportFailure(
    `The source sends the file compressed (Content-Encoding: ${encoding.slice(0, 40)}), although Sluice requested it uncompressed.`,
    { isFinal: true },
  )
}

function partOf(headers: IncomingHttpHeaders, askedBytes: number) {
  const [, from, length] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers['content-range'] ?? '') ?? []
  if (Number(from) !== askedBytes)
    throw new ImportFailure('The source sent a different range than requested.', {
      isFinal: true,
    })
  const known = length === '*' ? null : Number(length)
  const rest = lengthOf(headers)
  return { startBytes: askedBytes, lengthBytes: known ?? (rest === null ? null : askedBytes + rest) }
}

function lengthOf(headers: IncomingHttpHeaders): number | null {
  const text = headers['content-length']
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null
}

const isChunked = (headers: IncomingHttpHeaders) => /\bchunked\b/i.test(headers['transfer-encoding'] ?? '')

const MAX_VALIDATOR = 1024

/** RFC 9110, 13.1.5: If-Range does not support weak validators. */
function validatorOf({ etag, 'last-modified': lastModified }: IncomingHttpHeaders): string | null {
  const strong = etag?.startsWith('"') ? etag : lastModified
  return strong !== undefined && strong.length <= MAX_VALIDATOR ? strong : null
}
