import { accessSync, constants, existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { StartError } from './kernel/errors.ts'

const REASONS: [pattern: RegExp, reason: string][] = [
  [/ENOSPC|No space left on device|database or disk is full/i, 'its disk is full: make room there'],
  [/EROFS|Read-only file system/i, 'its file system is read-only: choose a DATA_DIR that can be written'],
  [
    /EACCES|EPERM|Permission denied|readonly database|unable to open database file/i,
    'this user may not write there: choose another DATA_DIR, or make the user of Sluice its owner',
  ],
]

/** One sentence about a folder that Sluice cannot use. */
export function explainFolder(folder: string, error: unknown): StartError {
  const text = `${textOf(error)} ${textOf(refusalAbove(folder))}`.trim()
  const reason = REASONS.find(([pattern]) => pattern.test(text))?.[1]
  if (reason) return new StartError(`Sluice cannot use ${folder}: ${reason}.`, { cause: error })
  return new StartError(`The embedded database in ${folder} does not start: ${text}`, { cause: error })
}

/** Node says ENOENT of a folder that it cannot make, whatever forbids it. */
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
  const { stderr, code } = error as Error & { stderr?: string; code?: unknown }
  return [code, stderr?.trim() || error.message].filter((part) => typeof part === 'string').join(' ')
}
