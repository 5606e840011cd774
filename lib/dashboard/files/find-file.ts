import { and, eq, isNull } from 'drizzle-orm'
import { files } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import type { Db } from '../../platform/db/database.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { isUuid } from '../../platform/kernel/ids.ts'

/** Another workspace's file is as absent as one that never was. */
export async function findFile(
  db: Db,
  actor: Actor,
  id: string,
  lock?: 'update',
): Promise<typeof files.$inferSelect> {
  const query = db
    .select()
    .from(files)
    .where(and(eq(files.id, id), eq(files.workspaceId, actor.workspaceId), isNull(files.erasedAt)))
  const [row] = isUuid(id) ? await (lock ? query.for(lock) : query) : []
  if (!row) throw new SluiceError('not_found', 'There is no such file.')
  return row
}
