import { DatabaseSync } from 'node:sqlite'
import { StartError } from '../kernel/errors.ts'

/**
 * A lock that the operating system lets go when the process ends, however it ends. Node has no flock of its
 * own; SQLite takes one, and nothing is ever written to its file.
 */
export function lockFolder(folder: string): () => void {
  const lock = new DatabaseSync(`${folder}.lock`, { timeout: 0 })
  try {
    lock.exec('pragma journal_mode = memory; begin exclusive')
  } catch (error) {
    lock.close()
    throw new StartError(
      `Another process is using the embedded database in ${folder}. Stop it, choose another DATA_DIR, or set DATABASE_URL to share a PostgreSQL.`,
      { cause: error },
    )
  }
  return () => lock.close()
}
