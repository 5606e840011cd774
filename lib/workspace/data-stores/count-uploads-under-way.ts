import { and, count, eq, inArray } from 'drizzle-orm'
import { fileDestinations, files } from '#drizzle/schema/index.ts'
import type { Db } from '../../platform/db/database.ts'

/** Uploads that still need this Data Store's bucket and keys. */
export async function countUploadsUnderWay(db: Db, dataStoreId: string): Promise<number> {
  const [row] = await db
    .select({ n: count() })
    .from(fileDestinations)
    .innerJoin(files, eq(files.id, fileDestinations.fileId))
    .where(
      and(
        eq(fileDestinations.dataStoreId, dataStoreId),
        inArray(files.status, ['uploading', 'transferring']),
      ),
    )
  return row!.n
}

export function uploads(n: number): string {
  return n === 1 ? '1 upload is' : `${n} uploads are`
}
