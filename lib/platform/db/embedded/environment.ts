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
