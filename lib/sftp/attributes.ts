import type { Attributes, FileEntry } from 'ssh2'
import type { Entry } from '../folders/entries.ts'

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

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** A line as printed by `ls -l`, which some clients show and others parse. */
export function listed(filename: string, attrs: Attributes): FileEntry {
  const at = new Date(attrs.mtime * 1000)
  const two = (value: number) => String(value).padStart(2)
  const date = `${MONTHS[at.getUTCMonth()]} ${two(at.getUTCDate())}  ${at.getUTCFullYear()}`
  const mode = attrs.mode === FOLDER_MODE ? 'drwxr-x---' : '-rw-r-----'
  const longname = `${mode}    1 sluice   sluice   ${String(attrs.size).padStart(12)} ${date} ${filename}`
  return { filename, longname, attrs }
}
