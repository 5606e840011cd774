import { and, count, eq } from 'drizzle-orm'
import { files } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import type { Runtime } from '../../platform/runtime.ts'

/** What deleting the account would cancel. */
export async function countUnderWay({ db }: Pick<Runtime, 'db'>, { workspaceId }: Actor): Promise<number> {
  const [row] = await db
    .select({ n: count() })
    .from(files)
    .where(and(eq(files.workspaceId, workspaceId), eq(files.status, 'uploading')))
  return row!.n
}
