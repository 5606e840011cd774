import { and, desc, eq } from 'drizzle-orm'
import { deliveries, fileDestinations, files } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'

/** What the server says of a trial upload: its status, its key, its resumes, its webhook. */
export async function trialResult({ db }: Pick<Runtime, 'db'>, actor: Actor, fileId: string) {
  if (!isUuid(fileId)) return undefined
  const [file] = await db
    .select({
      status: files.status,
      key: fileDestinations.key,
      resumeCount: files.resumeCount,
      savedBytes: files.savedBytes,
    })
    .from(files)
    .innerJoin(fileDestinations, eq(fileDestinations.fileId, files.id))
    .where(and(eq(files.id, fileId), eq(files.workspaceId, actor.workspaceId)))
  if (!file) return undefined
  const [delivery] = await db
    .select({ state: deliveries.state, lastStatus: deliveries.lastStatus })
    .from(deliveries)
    .where(eq(deliveries.fileId, fileId))
    .orderBy(desc(deliveries.id))
    .limit(1)
  return { ...file, delivery }
}
