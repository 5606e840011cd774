import type { Attributes, FileEntry } from 'ssh2'
import type { Entry } from '../folders/entries.ts'
import { listingLine } from '../folders/listing-line.ts'

/**
 * How files and folders look to clients. SFTP uses Unix attributes, but only the size and the time are meaningful here.
 */

const FILE_MODE = 0o100640
const FOLDER_MODE = 0o040750
const NOBODY = { uid: 0, gid: 0 }

type Described = Pick<Entry, 'sizeBytes' | 'modifiedMs'>

export function attributesOfFile({ sizeBytes, modifiedMs }: Described): Attributes {
  const mtime = Math.floor(modifiedMs / 1000)
  return { ...NOBODY, mode: FILE_MODE, size: sizeBytes, atime: mtime, mtime }
}

export function attributesOfFolder(nowMs: number): Attributes {
  const mtime = Math.floor(nowMs / 1000)
  return { ...NOBODY, mode: FOLDER_MODE, size: 0, atime: mtime, mtime }
}

/** An entry of a listing, with a line as printed by `ls -l`, which some clients show and others parse. */
export function listed(filename: string, attrs: Attributes): FileEntry {
  const isFolder = attrs.mode === FOLDER_MODE
  const longname = listingLine(filename, { isFolder, sizeBytes: attrs.size, modifiedMs: attrs.mtime * 1000 })
  return { filename, longname, attrs }
}
