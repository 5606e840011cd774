import { readBytes, type Sent } from '../platform/http/read-request.ts'
import { SluiceError } from '../platform/kernel/errors.ts'

const MAX_BODY_BYTES = 64 * 1024

/** The JSON of a request, at most 64 KiB of it; undefined where there is no body. */
export async function readBody(request: Sent): Promise<unknown> {
  const bytes = await readBytes(request, MAX_BODY_BYTES)
  if (bytes.length === 0) return undefined
  assertJson(request.headers.get('content-type'))
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw new SluiceError('invalid_json', 'The body is not JSON in UTF-8.', { cause })
  }
}

function assertJson(contentType: string | null): void {
  if (/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(contentType ?? '')) return
  throw new SluiceError('unsupported_media_type', 'Send the body as Content-Type: application/json.')
}
