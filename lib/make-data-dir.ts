import { accessSync, constants, mkdirSync, statfsSync } from 'node:fs'
import { StartError } from './kernel/errors.ts'

const MiB = 1024 * 1024
/** Less than this, and the embedded database fails in its first minutes with words of its own. */
const LEAST_FREE_BYTES = 32 * MiB

/** The folder of the embedded parts, for its owner alone; what keeps it from being used is said with the remedy. */
export function makeDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new StartError(`DATA_DIR is ${dataDir}, ${remedyOf(error as NodeJS.ErrnoException)}`, {
      cause: error,
    })
  }
  const { bavail, bsize } = statfsSync(dataDir)
  const freeBytes = bavail * bsize
  if (freeBytes < LEAST_FREE_BYTES)
    throw new StartError(
      `DATA_DIR is ${dataDir}, and its disk is full: ${Math.floor(freeBytes / MiB)} MiB are free, and ${LEAST_FREE_BYTES / MiB} are the least that Sluice starts with. Make room, or set DATA_DIR to a folder on another disk.`,
    )
}

function remedyOf({ code }: NodeJS.ErrnoException): string {
  if (code === 'EEXIST' || code === 'ENOTDIR')
    return 'but there is a file where it needs a folder. Move the file away, or set DATA_DIR to a folder.'
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return 'and its disk is full. Make room, or set DATA_DIR to a folder on another disk.'
  return `which this user may not write to (${code}). Change its owner or mode, or set DATA_DIR to another folder.`
}
