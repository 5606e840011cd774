import type { IncomingHttpHeaders } from 'node:http'
import { type BareItem, parseItem, serializeDictionary } from 'structured-headers'
import type { BodyRules } from '../../uploads/append.ts'

/**
 * Resumable Uploads for HTTP is a draft, and its clients state their version. The differences that the versions require
 * are listed only here. Where a version leaves a choice, all clients are treated the same.
 */
export type Version = {
  /** The value of Upload-Draft-Interop-Version. Null stands for the RFC, which has no such field. */
  interop: number | null
  /** The field that says whether an upload is complete. For `Upload-Incomplete`, `?0` means complete. */
  completeness: 'Upload-Incomplete' | 'Upload-Complete'
  /** True if PATCH must have the Content-Type application/partial-upload. */
  partialUpload: boolean
  /**
   * True if HEAD and DELETE requests with a field that describes an upload, such as Upload-Offset, are refused with
   * 400.
   */
  bareOnly: boolean
  /** The name of the Upload-Limit member for the lifetime; null if the version has no Upload-Limit. */
  lifetime: 'expires' | 'max-age' | null
  /** True if a 104 response may report the offset while bytes arrive. */
  progress: boolean
}

/** The newest version. It is also used for clients that send no version, or an unknown one. */
const NEWEST: Version = {
  interop: 10,
  completeness: 'Upload-Complete',
  partialUpload: true,
  bareOnly: false,
  lifetime: 'max-age',
  progress: true,
}

const VERSIONS: readonly Version[] = [
  {
    ...NEWEST,
    interop: 3,
    completeness: 'Upload-Incomplete',
    partialUpload: false,
    bareOnly: true,
    lifetime: null,
    progress: false,
  },
  { ...NEWEST, interop: 6, bareOnly: true, lifetime: 'expires' },
  { ...NEWEST, interop: 8 },
  { ...NEWEST, interop: 9 },
  NEWEST,
  { ...NEWEST, interop: null },
]

/**
 * Set this to true once the RFC is published, because its clients send no version. Until then, clients without a
 * version get no 104.
 */
const IS_PUBLISHED = false

/** The client's version. A 104 may only be sent if it is `known`. */
export type Spoken = Version & { known: boolean }

export function spokenVersion(headers: IncomingHttpHeaders, isPublished = IS_PUBLISHED): Spoken {
  const interop = countField(headers['upload-draft-interop-version']) ?? null
  const found = VERSIONS.find((version) => version.interop === interop)
  if (!found || (interop === null && !isPublished)) return { ...NEWEST, interop, known: false }
  return { ...found, known: true }
}

type Field = string | string[] | undefined

export const PARTIAL_UPLOAD = 'application/partial-upload'

/** Every client of a draft sends this field, and no TUS client does. */
export function namesVersion(headers: IncomingHttpHeaders): boolean {
  return countField(headers['upload-draft-interop-version']) !== undefined
}

/** Whether a field indicates Resumable Uploads for HTTP. A malformed field counts as absent. */
export function isOfDraft(headers: IncomingHttpHeaders): boolean {
  return completeness(headers) !== undefined || isPartialUpload(headers)
}

export function isPartialUpload(headers: IncomingHttpHeaders): boolean {
  const [type = ''] = headers['content-type']?.split(';', 1) ?? []
  return type.trim().toLowerCase() === PARTIAL_UPLOAD
}

/** Whether the request contains the end of the file. Undefined if the field is absent or malformed. */
export function completeness(headers: IncomingHttpHeaders): boolean | undefined {
  const complete = booleanField(headers['upload-complete'])
  if (complete !== undefined) return complete
  const incomplete = booleanField(headers['upload-incomplete'])
  return incomplete === undefined ? undefined : !incomplete
}

/** "a non-negative Integer … Other values MUST cause the entire header field to be ignored" */
export function countField(field: Field): number | undefined {
  const value = itemOf(field)
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && !/\./.test(String(field))
    ? value
    : undefined
}

function booleanField(field: Field): boolean | undefined {
  const value = itemOf(field)
  return typeof value === 'boolean' ? value : undefined
}

/** RFC 9651, 4.2: a field that cannot be parsed is ignored. */
function itemOf(field: Field): BareItem | undefined {
  if (field === undefined) return undefined
  try {
    return parseItem(String(field))[0]
  } catch {
    return undefined
  }
}

/**
 * The rules for request bodies: an upload is only complete when its client says so. `mayContinue`: the client knows
 * where to send the rest of an interrupted body.
 */
export function resumableRules(of: { complete: boolean; atomic: boolean; mayContinue: boolean }): BodyRules {
  const cut = of.mayContinue ? 'keep' : 'keep parts'
  return { completedBy: of.complete ? 'body' : 'later', whenCut: of.atomic ? 'discard' : cut }
}

/**
 * The fields that report the state of the upload in a response. Clients ignore fields that their version does not
 * define.
 */
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

/** The size of an append is not limited, because bytes that do not fill a part are stored as a tail. */
export function limitHeader(
  { lifetime }: Version,
  { maxBytes, aliveMs }: { maxBytes: number; aliveMs?: number },
): Record<string, string> {
  if (lifetime === null) return {}
  const alive = aliveMs === undefined ? {} : { [lifetime]: Math.max(Math.floor(aliveMs / 1000), 0) }
  return { 'Upload-Limit': serializeDictionary({ 'max-size': maxBytes, 'min-size': 0, ...alive }) }
}
