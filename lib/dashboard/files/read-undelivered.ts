import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { explainAttempt } from '../../webhooks/log/delivery.ts'

/** A file's events that one output has not accepted. */
export type Undelivered = {
  outputId: string
  deliveryIds: string[]
  host: string
  /** Why the latest attempt failed. */
  error: string
  /** The beginning of the receiver's response to that attempt. */
  response: string | null
  /** When the next attempt is due; null if none is planned. */
  nextAttemptAtMs: number | null
}

const SHOWN_CHARACTERS = 200

/** Includes events that will be retried, since they are not delivered until an attempt succeeds. */
export async function readUndelivered(db: Db, fileId: string): Promise<Undelivered[]> {
  const found = await rows<
    Omit<Undelivered, 'host' | 'error'> & { url: string; status: number | null; error: string | null }
  >(
    db,
    sql`with undelivered as (
      select id, webhook_output_id, url, next_attempt_at, last_status, last_error from deliveries
      where file_id = ${fileId}::uuid and not test and (state = 'failed' or state = 'pending' and attempt_count > 0)
    ), latest as (
      select distinct on (webhook_output_id) * from undelivered order by webhook_output_id, id desc
    )
    select l.webhook_output_id as "outputId", l.url, l.last_status as status, l.last_error as error,
      (select json_agg(u.id order by u.id desc) from undelivered u
        where u.webhook_output_id = l.webhook_output_id) as "deliveryIds",
      (select floor(extract(epoch from min(u.next_attempt_at)) * 1000)::float8 from undelivered u
        where u.webhook_output_id = l.webhook_output_id) as "nextAttemptAtMs",
      (select nullif(left(a.response_body, ${SHOWN_CHARACTERS}::int), '') from attempts a
        where a.delivery_id = l.id order by a.id desc limit 1) as response
    from latest l`,
  )
  return found.map(({ url, status, error, ...one }) => ({
    ...one,
    host: new URL(url).host,
    error: explainAttempt({ status, error }),
  }))
}
