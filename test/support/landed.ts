import { readFileSync } from 'node:fs'
import { sql } from 'drizzle-orm'
import type { Db } from '#lib/platform/db/database.ts'

/** The database of commit 757d55c, the oldest version that can be upgraded: its migrations, and data that it wrote. */
export const LANDED = 'e2e/landed/757d55c'
export const PIPE = 'pipe_d4i3aysouyldygkdplnj'
export const TOKEN = 'tmp_Ayq1VdK9M90tbnCWZ2tnpGSbh03gjhzZOAfrcGj5yKS'

/** The access key of the Data Store in that database. */
export const KEYS = { accessKeyId: 'PUTTER', secretAccessKey: 'secret-of-putter' }

/**
 * Loads the data into that commit's schema, and points its Data Store at this bucket, which must accept its access key.
 */
export async function insertLanded(db: Db, { endpoint }: { endpoint: string }): Promise<void> {
  const text = readFileSync(`${LANDED}/data.sql`, 'utf8').replace(/^--.*\n/gm, '')
  for (const statement of text.split(/;\n/).filter(Boolean)) await db.execute(sql.raw(statement))
  await db.execute(sql`update data_stores set endpoint = ${endpoint}`)
}
