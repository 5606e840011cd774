import { DatabaseSync } from 'node:sqlite'

/**
 * A lock that the operating system lets go when the process ends, however it ends. Node has no flock of its
 * own; SQLite takes one, and nothing is ever written to its file. Undefined while another process holds it.
 */
export function lockFolder(folder: string): (() => void) | undefined {
  const lock = new DatabaseSync(`${folder}.lock`, { timeout: 0 })
  try {
    lock.exec('pragma journal_mode = memory; begin exclusive')
  } catch {
    lock.close()
    return undefined
  }
  return () => lock.close()
}
