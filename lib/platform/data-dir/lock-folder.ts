import { readFileSync, writeFileSync } from 'node:fs'

/**
 * A lock that the operating system lets go when the process ends, however it ends. Node has no flock of its
 * own; SQLite takes one, and nothing is ever written to its file. Undefined while another process holds it.
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

/** Node 22 calls it experimental at each start, of which whoever starts Sluice can make nothing. */
function loadSqlite(): typeof import('node:sqlite') {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return process.getBuiltinModule('node:sqlite')
  } finally {
    process.emitWarning = emitWarning
  }
}

/** Who holds the lock, in words. */
export function holderOf(folder: string): string {
  try {
    return `process ${Number.parseInt(readFileSync(`${folder}.pid`, 'utf8'), 10)}`
  } catch {
    return 'another process'
  }
}
