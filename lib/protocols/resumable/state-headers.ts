import { serializeDictionary } from 'structured-headers'
import type { Version } from './versions.ts'

/** The state of the upload, for a response. A client ignores fields that its version does not know. */
export function stateHeaders(
  version: Version,
  state: { complete: boolean; offsetBytes?: number; lengthBytes?: number | null },
): Record<string, string> {
  const { complete, offsetBytes, lengthBytes = null } = state
  return {
    [version.completeness]: complete === (version.completeness === 'Upload-Complete') ? '?1' : '?0',
    ...(offsetBytes !== undefined && { 'Upload-Offset': String(offsetBytes) }),
    ...(lengthBytes !== null && { 'Upload-Length': String(lengthBytes) }),
  }
}

/** There are no limits on the size of an append, since bytes that do not fill a part are stored as a tail. */
export function limitHeader(
  { lifetime }: Version,
  { maxBytes, aliveMs }: { maxBytes: number; aliveMs?: number },
): Record<string, string> {
  if (lifetime === null) return {}
  const alive = aliveMs === undefined ? {} : { [lifetime]: Math.max(Math.floor(aliveMs / 1000), 0) }
  return { 'Upload-Limit': serializeDictionary({ 'max-size': maxBytes, 'min-size': 0, ...alive }) }
}
