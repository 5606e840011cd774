import { randomBytes } from 'node:crypto'
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { StartError } from './kernel/errors.ts'
import { explainFolder } from './log/say-fault.ts'

const MiB = 1024 * 1024
/** With less free space than this, the embedded database would fail within minutes, with an error from PostgreSQL. */
const MIN_FREE_BYTES = 32 * MiB

/** Creates the folder for secrets and the embedded database, accessible only to its owner. */
export function makeDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
    keepOthersOut(dataDir)
  } catch (error) {
    throw explainFolder(dataDir, error)
  }
  const { bavail, bsize } = statfsSync(dataDir)
  const freeBytes = bavail * bsize
  if (freeBytes < MIN_FREE_BYTES)
    throw new StartError(
      `Sluice cannot use ${dataDir}: its disk has ${Math.floor(freeBytes / MiB)} MiB left, and Sluice needs ${MIN_FREE_BYTES / MiB} to start. Free up space, or set DATA_DIR to a folder on another disk.`,
    )
}

/**
 * Also restricts access to an existing folder if it contains Sluice's secrets. As root, Sluice runs PostgreSQL as
 * another user, who must be able to traverse the folder, but not to list its contents.
 */
function keepOthersOut(dataDir: string): void {
  const { mode, uid } = statSync(dataDir)
  const open = process.getuid?.() === 0 ? 0o066 : 0o077
  if (uid !== process.getuid?.() || (mode & open) === 0 || !existsSync(join(dataDir, 'secrets.json'))) return
  chmodSync(dataDir, mode & 0o777 & ~open)
}

export type LocalSecrets = { encryptionKey: string; authSecret: string; metricsToken: string }

/** The secrets used if DATABASE_URL is not set: generated once, and readable only by their owner. */
export function readLocalSecrets(dataDir: string): LocalSecrets {
  const file = join(dataDir, 'secrets.json')
  const random = () => randomBytes(32).toString('base64')
  makeDataDir(dataDir)
  const fresh: LocalSecrets = { encryptionKey: random(), authSecret: random(), metricsToken: random() }
  try {
    writeFileSync(file, `${JSON.stringify(fresh, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
    return fresh
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return JSON.parse(readFileSync(file, 'utf8')) as LocalSecrets
  }
}

/**
 * Acquires a lock that the operating system releases when the process ends, however it ends, and returns a function
 * that releases it earlier. Node has no flock, so SQLite locks a file, which stays empty. Returns undefined if another
 * process holds the lock.
 */
export function lockFolder(folder: string): (() => void) | undefined {
  const lock = new (loadSqlite().DatabaseSync)(`${folder}.lock`, { timeout: 0 })
  try {
    lock.exec('pragma journal_mode = memory; begin exclusive')
  } catch (error) {
    lock.close()
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error
    return undefined
  }
  writeFileSync(`${folder}.pid`, `${process.pid}\n`)
  return () => lock.close()
}

const SQLITE_BUSY = 5

/** When SQLite is first loaded, Node 22 warns that it is experimental. This suppresses that unhelpful warning. */
function loadSqlite(): typeof import('node:sqlite') {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return process.getBuiltinModule('node:sqlite')
  } finally {
    process.emitWarning = emitWarning
  }
}

/** Describes the process that holds the lock. */
export function holderOf(folder: string): string {
  try {
    return `process ${Number.parseInt(readFileSync(`${folder}.pid`, 'utf8'), 10)}`
  } catch {
    return 'another process'
  }
}
