import type { IncomingHttpHeaders } from 'node:http'
import { countField } from './fields.ts'

/**
 * Resumable Uploads for HTTP is a draft, and its clients say which version they speak. What a server has to do
 * differently for each version is listed here only. Where a difference is optional, all clients are treated the same.
 */
export type Version = {
  /** The value of Upload-Draft-Interop-Version. Null stands for the RFC, which has no such field. */
  interop: number | null
  /** The field that says whether an upload is complete. `Upload-Incomplete` says so with `?0`. */
  completeness: 'Upload-Incomplete' | 'Upload-Complete'
  /** PATCH must have the Content-Type application/partial-upload. */
  partialUpload: boolean
  /** HEAD and DELETE with a field about the upload are refused with 400. */
  bareOnly: boolean
  /** The name of the lifetime in Upload-Limit; null if there is no Upload-Limit. */
  lifetime: 'expires' | 'max-age' | null
  /** A 104 response may report the offset while bytes arrive. */
  progress: boolean
}

/** The newest version. It is also used for clients that name none, or one that Sluice does not know. */
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

/** Set this once the RFC is published: its clients name no version. Until then, clients that name none get no 104. */
const IS_PUBLISHED = false

/** The version that the client speaks. Only if it is `known` may a 104 be sent. */
export type Spoken = Version & { known: boolean }

export function spokenVersion(headers: IncomingHttpHeaders, isPublished = IS_PUBLISHED): Spoken {
  const interop = countField(headers['upload-draft-interop-version']) ?? null
  const found = VERSIONS.find((version) => version.interop === interop)
  if (!found || (interop === null && !isPublished)) return { ...NEWEST, interop, known: false }
  return { ...found, known: true }
}
