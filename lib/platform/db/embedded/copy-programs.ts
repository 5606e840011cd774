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
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'

/** What only those need who build programs with PostgreSQL. */
const LEFT_OUT = /\.a$|[\\/]pkgconfig[\\/]|pg_ctl$/

/** A copy that every user can run, named or not. It appears whole or not at all. */
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
 * `initdb` and the server that it starts stop where the user has no entry in /etc/passwd, though they do nothing with the
 * name that they look up. Here they ask for the first entry instead of the user's own: both calls have eight letters.
 */
function withoutName(program: Buffer): Buffer {
  const call = Buffer.from('getpwuid\0')
  for (let at = program.indexOf(call); at >= 0; at = program.indexOf(call, at)) program.write('getpwent', at)
  return program
}

/** Paths relative to `folder`. Windows has none. */
export function linksOf(folder: string): { source: string; target: string }[] {
  const list = join(folder, 'pg-symlinks.json')
  if (!existsSync(list)) return []
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]
  const inside = (path: string) => path.replace(/^native\//, '')
  return links.map(({ source, target }) => ({ source: inside(source), target: inside(target) }))
}
