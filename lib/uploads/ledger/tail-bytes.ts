import { sql } from 'drizzle-orm'
import { SEAL_BYTES } from '../rules/tail-cipher.ts'

/** How many bytes of the file are in a row of `upload_tails`. */
export const tailBytes = sql`(octet_length(bytes) - case when key is null then 0 else ${sql.raw(String(SEAL_BYTES))} end)`
