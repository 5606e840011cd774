import { serializeDictionary } from 'structured-headers'
import type { Version } from './versions.ts'

/** What an answer tells of the upload. Each version knows all of them, or ignores what it does not know. */
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

/** Any piece is taken, since what is too small for a part waits in the tail: so there is no limit to what an append brings. */
export function limitHeader(
  { lifetime }: Version,
  { maxBytes, aliveMs }: { maxBytes: number; aliveMs?: number },
): Record<string, string> {
  if (lifetime === null) return {}
  const alive = aliveMs === undefined ? {} : { [lifetime]: Math.max(Math.floor(aliveMs / 1000), 0) }
  return { 'Upload-Limit': serializeDictionary({ 'max-size': maxBytes, 'min-size': 0, ...alive }) }
}
