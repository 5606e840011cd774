import type { IncomingHttpHeaders } from 'node:http'
import type { FileProtocol } from '#drizzle/schema/index.ts'
import { hasBody } from './endpoint/respond.ts'
import { isOfDraft, namesVersion } from './resumable/fields.ts'

const OF_TUS = ['upload-defer-length', 'upload-metadata', 'upload-concat']

/**
 * Each protocol is recognized by headers that only it has. A request without any of them is a plain upload if it has a
 * body. Anything else is treated as TUS, which rejects it because Tus-Resumable is missing.
 */
export function chooseProtocol(method: string, headers: IncomingHttpHeaders): FileProtocol {
  if ('tus-resumable' in headers) return 'tus'
  // Checked before the TUS headers: tus-js-client sends Upload-Metadata in this protocol, too.
  if (namesVersion(headers)) return 'resumable-http'
  if (OF_TUS.some((name) => name in headers)) return 'tus'
  if (isOfDraft(headers)) return 'resumable-http'
  if ('upload-length' in headers) return 'tus'
  if (method === 'PUT' || (method === 'POST' && hasBody({ headers }))) return 'http'
  return 'tus'
}
