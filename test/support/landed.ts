import { readFileSync } from 'node:fs'
import { sql } from 'drizzle-orm'
import type { Db } from '#lib/platform/db/database.ts'

/**
 * The state left by commit 757d55c, the oldest one that can be upgraded: its migrations, and data it wrote.
 */
export const LANDED = 'e2e/landed/757d55c'
export const PIPE = 'pipe_d4i3aysouyldygkdplnj'
export const TOKEN = 'tmp_Ayq1VdK9M90tbnCWZ2tnpGSbh03gjhzZOAfrcGj5yKS'

/** The keys of its Data Store. */
export const KEYS = { accessKeyId: 'PUTTER', secretAccessKey: 'secret-of-putter' }

/** The data is loaded into that commit's schema. Its Data Store is moved to this bucket, which has its keys. */
export async function insertLanded(db: Db, { endpoint }: { endpoint: string }): Promise<void> {
  const text = readFileSync(`${LANDED}/data.sql`, 'utf8').replace(/^--.*\n/gm, '')
  for (const statement of text.split(/;\n/).filter(Boolean)) await db.execute(sql.raw(statement))
  await db.execute(sql`update data_stores set endpoint = ${endpoint}`)
}
