import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  accessSync,
  chownSync,
  constants,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Programs } from './programs.ts'
import { environment, HERE, type RunAs } from './run-as.ts'
import { SERVER_SETTINGS } from './start-postmaster.ts'

export const USER = 'sluice'
/**
 * A file that marks a database folder as Sluice's. The password in it is needed where PostgreSQL does not listen on a
 * socket.
 */
export const PASSWORD_FILE = 'sluice.password'

type Options = { programs: Programs; folder: string; as: RunAs | undefined; durable?: boolean }

/**
 * Creates PostgreSQL's folder. It appears completely or not at all: after a crash, the next start removes the
 * incomplete folder.
 */
export async function makeCluster({ programs, folder, as, durable = true }: Options): Promise<void> {
  const fresh = `${folder}.new`
  rmSync(fresh, { recursive: true, force: true })
  mkdirSync(fresh, { mode: 0o700 })
  if (as) chownSync(fresh, as.uid, as.gid)
  const password = randomBytes(24).toString('base64url')
  const around = makeAside(fresh, as)
  try {
    const passwordFile = join(around, 'password')
    writeFileSync(passwordFile, password, { mode: 0o600 })
    if (as) for (const path of [around, passwordFile]) chownSync(path, as.uid, as.gid)
    await promisify(execFile)(
      join(programs.folder, 'bin', 'initdb'),
      [
        ...['-D', HERE ?? fresh, '-U', USER, '-E', 'UTF8', `--pwfile=${passwordFile}`],
        // The same sort order and character set on every system, whatever locales are installed.
        ...['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
        ...['--auth-local=trust', '--auth-host=scram-sha-256', '--data-checksums', '--no-instructions'],
        // Like the server, initdb must not use /dev/shm, which may be small.
        ...['-c', `dynamic_shared_memory_type=${SERVER_SETTINGS.dynamic_shared_memory_type}`],
        ...(durable ? [] : ['--no-sync']),
      ],
      { ...as, cwd: fresh, env: environment() },
    )
    const kept = join(fresh, PASSWORD_FILE)
    writeFileSync(kept, password, { mode: 0o600 })
    if (as) chownSync(kept, as.uid, as.gid)
    renameSync(fresh, folder)
  } finally {
    rmSync(around, { recursive: true, force: true })
  }
}

/**
 * Creates a folder for the password file, which `initdb` has to read. If `initdb` runs as another user, who may not be
 * able to enter DATA_DIR, this is a temporary folder, or one in /dev/shm if the root file system is read-only.
 */
function makeAside(fresh: string, as: RunAs | undefined): string {
  const aside = `${fresh}.password`
  rmSync(aside, { recursive: true, force: true })
  if (as) return mkdtempSync(join(mayWrite(tmpdir()) ? tmpdir() : '/dev/shm', 'sluice-'))
  mkdirSync(aside, { mode: 0o700 })
  return aside
}

function mayWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}
