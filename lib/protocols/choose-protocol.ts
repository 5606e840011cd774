import type { IncomingHttpHeaders } from 'node:http'
import type { FileProtocol } from '#drizzle/schema/index.ts'
import { hasBody } from './endpoint/respond.ts'
import { isOfDraft, namesVersion } from './resumable/fields.ts'

const OF_TUS = ['upload-defer-length', 'upload-metadata', 'upload-concat']

/**
 * Each protocol has headers of its own, and what has none of them but brings a body is a file. Anything else is a mistake
 * of a TUS client, and told so by its missing version.
 */
export function chooseProtocol(method: string, headers: IncomingHttpHeaders): FileProtocol {
  if ('tus-resumable' in headers) return 'tus'
  // tus-js-client sends the metadata of TUS in this protocol, too.
  if (namesVersion(headers)) return 'resumable-http'
  if (OF_TUS.some((name) => name in headers)) return 'tus'
  if (isOfDraft(headers)) return 'resumable-http'
  if ('upload-length' in headers) return 'tus'
  if (method === 'PUT' || (method === 'POST' && hasBody({ headers }))) return 'http'
  return 'tus'
}
