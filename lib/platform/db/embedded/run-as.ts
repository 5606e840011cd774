import { statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname } from 'node:path'
import { StartError } from '../../kernel/errors.ts'

/** Another user than Sluice's own, for PostgreSQL refuses to run as root. */
export type RunAs = { uid: number; gid: number }

/** No account has it, and systemd gives it to none: what runs under it shares its files and socket with nobody. */
const UNPRIVILEGED = 65_530

/** Undefined where PostgreSQL runs as the user that Sluice runs as. */
export function runAs(folder: string): RunAs | undefined {
  if (process.getuid?.() !== 0) return undefined
  if (process.platform !== 'linux') {
    throw new StartError(
      'PostgreSQL refuses to run as root. Start Sluice as an ordinary user, or set DATABASE_URL.',
    )
  }
  for (const path of [folder, dirname(folder)]) {
    const owner = statSync(path, { throwIfNoEntry: false })
    if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid }
  }
  return { uid: UNPRIVILEGED, gid: UNPRIVILEGED }
}

/** In a container the user may be a mere number, for which `initdb` finds no name. */
export function hasName(): boolean {
  try {
    return userInfo().username !== ''
  } catch {
    return false
  }
}

/**
 * The folder that a program is started in, by a name that works where nobody but root may enter the folders above it:
 * Linux changes into it before it changes the user.
 */
export const HERE = process.platform === 'linux' ? '/proc/self/cwd' : undefined

/** Nothing of Sluice's own environment, which has secrets. Windows cannot run a program with none. */
export function environment(): NodeJS.ProcessEnv | undefined {
  return process.platform === 'win32'
    ? undefined
    : { NODE_ENV: 'production', PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }
}
