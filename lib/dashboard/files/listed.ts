import { and, isNull, sql } from 'drizzle-orm'
import { files } from '#drizzle/schema/index.ts'

/** The files that a customer sees. Partial uploads are not listed: the file that they are joined to is. */
export const listed = and(isNull(files.erasedAt), sql`${files.concat} is distinct from 'partial'`)
