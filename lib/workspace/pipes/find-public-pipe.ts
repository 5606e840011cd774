import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { type SealedDataStore, sealedDataStoreColumn } from '../data-stores/sealed-data-store.ts'

/** What anybody may learn of a Pipe without a token, and its bucket to learn it from. */
export type PublicPipe = {
  allowedOrigins: string[]
  maxFileBytes: number | null
  uploadExpirySeconds: number
  dataStore: SealedDataStore
}

export async function findPublicPipe(db: Db, pipeId: string): Promise<PublicPipe | undefined> {
  const [pipe] = await rows<PublicPipe>(
    db,
    sql`select p.allowed_origins as "allowedOrigins", p.max_file_bytes as "maxFileBytes",
        p.upload_expiry_seconds as "uploadExpirySeconds",
        ${sealedDataStoreColumn()} as "dataStore"
      from pipes p join pipe_destinations pd on pd.pipe_id = p.id join data_stores ds on ds.id = pd.data_store_id
      where p.id = ${pipeId} and p.deleted_at is null`,
  )
  return pipe
}
