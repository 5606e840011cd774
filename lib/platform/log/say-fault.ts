import { accessSync, constants, existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { isOutage } from '../db/faults.ts'
import { isSluiceError, StartError } from '../kernel/errors.ts'

const MAX_DEPTH = 5

type Fault = Error & {
  code?: string
  syscall?: string
  path?: string
  address?: string
  port?: number
  stderr?: string
}

/**
 * Says why a program ends: in one sentence with the remedy if the user can fix the problem, otherwise with a stack
 * trace.
 */
export function sayFault(error: unknown): string {
  const chain: Error[] = []
  for (let at = error; at instanceof Error && chain.length < MAX_DEPTH; at = at.cause) chain.push(at)
  const said = chain.map((at) => (at instanceof StartError ? at.message : remedyOf(at))).find(Boolean)
  if (said) return said
  const told = chain.find(isSluiceError)
  if (told) return told.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** Like `sayFault`, for a folder that Sluice, or a program it runs, cannot use. */
export function explainFolder(folder: string, error: unknown): StartError {
  if (error instanceof StartError) return error
  const text = `${textOf(error)} ${textOf(refusalAbove(folder))}`.trim()
  const reason = reasonOf(text)
  if (reason) return new StartError(ofPath(folder, reason), { cause: error })
  return new StartError(`The embedded database in ${folder} failed to start: ${text}`, { cause: error })
}

/** Reasons, recognized by Node's error code, or by the message of SQLite or PostgreSQL. */
const REASONS: [pattern: RegExp, reason: string][] = [
  [
    /ENOSPC|EDQUOT|No space left on device|database or disk is full/i,
    'its disk is full. Free up space, or set DATA_DIR to a folder on another disk',
  ],
  [/EROFS|Read-only file system/i, 'its file system is read-only. Set DATA_DIR to a writable folder'],
  [
    /EEXIST|ENOTDIR/,
    'there is a file where a folder is needed. Move the file away, or set DATA_DIR to a folder',
  ],
  [
    /EACCES|EPERM|Permission denied|readonly database|unable to open database file/i,
    'this user cannot write there. Change the owner or mode, or set DATA_DIR to another folder',
  ],
]

const reasonOf = (text: string) => REASONS.find(([pattern]) => pattern.test(text))?.[1]
const ofPath = (path: string, reason: string) => `Sluice cannot use ${path}: ${reason}.`

/**
 * If Node cannot create a folder, it reports ENOENT whatever the reason, so this checks the closest parent folder that
 * exists.
 */
function refusalAbove(folder: string): unknown {
  let above = folder
  while (!existsSync(above) && above !== dirname(above)) above = dirname(above)
  try {
    accessSync(above, constants.W_OK)
    return undefined
  } catch (error) {
    return error
  }
}

function textOf(error: unknown): string {
  if (error === undefined) return ''
  if (!(error instanceof Error)) return String(error)
  const { stderr, code } = error as Fault
  return [code, stderr?.trim() || error.message].filter((part) => typeof part === 'string').join(' ')
}

function remedyOf(fault: Fault): string | undefined {
  const { code = '', syscall, path, address, port, message } = fault
  if (syscall === 'listen') return ofListening(code, { address, port })
  const reason = path && code !== 'EEXIST' && reasonOf(code)
  if (reason) return ofPath(path, reason)
  if (isOutage(fault))
    return `The database is not responding (${message}). Start it, or correct DATABASE_URL.`
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return 'The disk is full. Free up space and start again.'
    // PostgreSQL, appendix A.
    case '28P01':
    case '28000':
    case '3D000':
      return `The database refused the connection: ${message}. Check DATABASE_URL.`
    case '53100':
      return "The database's disk is full. Free up space and start again."
  }
}

function ofListening(code: string, { address, port }: Pick<Fault, 'address' | 'port'>) {
  if (code === 'EADDRINUSE')
    return `Port ${port} is in use by another process. Stop it, or set PORT to a different port; PORT=0 picks a free one.`
  if (code === 'EACCES')
    return `This user is not allowed to listen on port ${port}. Set PORT to a port above 1023, and put a proxy in front of it.`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `HOST is ${address}, which is not an address of this machine. Set HOST to one that is.`
}
