import { accessSync, constants, mkdirSync, statfsSync } from 'node:fs'
import { StartError } from '../kernel/errors.ts'
import { explainFolder } from '../log/say-fault.ts'

const MiB = 1024 * 1024
/** Less than this, and the embedded database fails in its first minutes with words of its own. */
const MIN_FREE_BYTES = 32 * MiB

/** The folder of the embedded parts, for its owner alone. */
export function makeDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw explainFolder(dataDir, error)
  }
  const { bavail, bsize } = statfsSync(dataDir)
  const freeBytes = bavail * bsize
  if (freeBytes < MIN_FREE_BYTES)
    throw new StartError(
      `Sluice cannot use ${dataDir}: its disk has ${Math.floor(freeBytes / MiB)} MiB left, and Sluice starts with ${MIN_FREE_BYTES / MiB}. Make room there, or set DATA_DIR to a folder on another disk.`,
    )
}
