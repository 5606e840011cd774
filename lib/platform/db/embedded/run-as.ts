import { statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname } from 'node:path'
import { StartError } from '../../kernel/errors.ts'

/** A user other than Sluice's own, because PostgreSQL refuses to run as root. */
export type RunAs = { uid: number; gid: number }

/**
 * No account has this id, and systemd does not assign it, so no other process shares PostgreSQL's files and sockets.
 */
const UNPRIVILEGED = 65_530

/** Undefined if PostgreSQL runs as the same user as Sluice. */
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

/** In a container, the user may be just a number, for which `initdb` finds no name. */
export function hasName(): boolean {
  try {
    return userInfo().username !== ''
  } catch {
    return false
  }
}

/**
 * A name for a program's working directory that works even if only root can enter its parent folders: Linux changes
 * into the directory before it changes the user.
 */
export const HERE = process.platform === 'linux' ? '/proc/self/cwd' : undefined

/**
 * An environment without Sluice's own variables, which contain secrets. Windows cannot run a program with an empty
 * environment.
 */
export function environment(): NodeJS.ProcessEnv | undefined {
  return process.platform === 'win32'
    ? undefined
    : { NODE_ENV: 'production', PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }
}
