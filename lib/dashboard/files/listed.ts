import { and, isNull, sql } from 'drizzle-orm'
import { files } from '#drizzle/schema/index.ts'

/** The files that a customer sees. Contract, section 5: partial uploads are not listed. */
export const listed = and(isNull(files.erasedAt), sql`${files.concat} is distinct from 'partial'`)
