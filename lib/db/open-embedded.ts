import { chmodSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { PGlite, types } from '@electric-sql/pglite'
import { drizzle } from 'drizzle-orm/pglite'
import * as schema from '#drizzle/schema/index.ts'
import { StartError } from '../kernel/errors.ts'
import type { DatabaseHandle } from './database.ts'
import { lockFolder } from './lock-folder.ts'

export type EmbeddedHandle = DatabaseHandle & { kind: 'embedded'; pglite: PGlite }

/**
 * PGlite in a folder, or in memory, where it may begin with what another held. It is one connection in one process: PGlite itself lets a second
 * process open the same folder and ruin it, so the folder is locked first.
 */
export async function openEmbedded(folder: string | 'memory', content?: Blob): Promise<EmbeddedHandle> {
  const unlock = folder === 'memory' ? () => {} : lockBeside(folder)
  try {
    const pglite = await PGlite.create(folder === 'memory' ? 'memory://' : folder, {
      parsers: { [types.INT8]: Number },
      ...(content && { loadDataDir: content }),
    })
    return {
      kind: 'embedded',
      pglite,
      db: drizzle({ client: pglite, schema, casing: 'snake_case' }),
      listen: (channel, onMessage) => pglite.listen(channel, onMessage),
      async close() {
        await pglite.close()
        unlock()
      },
    }
  } catch (error) {
    unlock()
    throw error
  }
}

function lockBeside(folder: string): () => void {
  mkdirSync(dirname(folder), { recursive: true, mode: 0o700 })
  const unlock = lockFolder(folder)
  if (unlock) {
    keepPrivate(folder)
    return unlock
  }
  throw new StartError(
    `Another process is using the embedded database in ${folder}. Stop it, choose another DATA_DIR, or set DATABASE_URL to share a PostgreSQL.`,
  )
}

/** PGlite makes files that everybody may write, whatever the umask; their folder must keep others out. */
function keepPrivate(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  chmodSync(folder, 0o700)
}
