import { readFileSync, statfsSync } from 'node:fs'

const FOLDER = '/dev/shm'
const ENOUGH_BYTES = 4 * 1024 ** 3

/**
 * Keeps the tests' temporary files in memory, where Linux has a folder for this. Creating and dropping a database, with
 * its hundreds of files, takes 0.07 s of CPU time there, and 0.4 s on a disk. TMPDIR, if set, takes precedence.
 */
export function keepTemporaryFilesInMemory(): void {
  if (process.platform === 'linux' && process.env.TMPDIR === undefined && hasRoom())
    process.env.TMPDIR = FOLDER
}

/** Containers often have a folder of 64 MB, or one that no program can be started from. */
function hasRoom(): boolean {
  try {
    const mount = readFileSync('/proc/mounts', 'utf8').match(new RegExp(` ${FOLDER} tmpfs (\\S+)`))
    const { bavail, bsize } = statfsSync(FOLDER)
    return mount !== null && !mount[1]!.split(',').includes('noexec') && bavail * bsize >= ENOUGH_BYTES
  } catch {
    return false
  }
}

/** Does the work, whose files stay after the tests, with the usual folder. */
export async function onDisk<Result>(work: () => Result): Promise<Awaited<Result>> {
  const folder = process.env.TMPDIR
  if (folder === FOLDER) delete process.env.TMPDIR
  try {
    return await work()
  } finally {
    if (folder === FOLDER) process.env.TMPDIR = folder
  }
}
