import type { IncomingHttpHeaders } from 'node:http'
import { countField } from './fields.ts'

/**
 * Resumable Uploads for HTTP is a draft whose clients name the iteration that they speak. What a server does differently
 * for each is a row here, and nowhere else: where they differ only in what a server may say, all are told the same.
 */
export type Version = {
  /** Of Upload-Draft-Interop-Version; null: the RFC, which has no such field. */
  interop: number | null
  drafts: string
  /** By `Upload-Incomplete` an upload was told to be complete with `?0`. */
  completeness: 'Upload-Incomplete' | 'Upload-Complete'
  /** PATCH names the media type application/partial-upload. */
  partialUpload: boolean
  /** HEAD and DELETE with a field about the upload are 400. */
  bareOnly: boolean
  /** What Upload-Limit calls the lifetime; null: there is no Upload-Limit. */
  lifetime: 'expires' | 'max-age' | null
  /** 104 may tell the offset while bytes come. */
  progress: boolean
}

/** The newest, and what is told to those who name none. */
const NEWEST: Version = {
  interop: 10,
  drafts: '13 and 14',
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
    drafts: '01',
    completeness: 'Upload-Incomplete',
    partialUpload: false,
    bareOnly: true,
    lifetime: null,
    progress: false,
  },
  { ...NEWEST, interop: 6, drafts: '04 and 05', bareOnly: true, lifetime: 'expires' },
  { ...NEWEST, interop: 8, drafts: '09 to 11' },
  { ...NEWEST, interop: 9, drafts: '12' },
  NEWEST,
  { ...NEWEST, interop: null, drafts: '15, to be the RFC' },
]

/** Set this once the RFC is out: its clients name no version. Until then who names none is told nothing by 104. */
const IS_PUBLISHED = false

/** What the client speaks, and whether Sluice knows it: only then may there be a 104. */
export type Spoken = Version & { known: boolean }

export function spokenVersion(headers: IncomingHttpHeaders, isPublished = IS_PUBLISHED): Spoken {
  const interop = countField(headers['upload-draft-interop-version']) ?? null
  const found = VERSIONS.find((version) => version.interop === interop)
  if (!found || (interop === null && !isPublished)) return { ...NEWEST, interop, known: false }
  return { ...found, known: true }
}
