import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { type Fenced, heldBy, type LeaseHolder } from './lease-terms.ts'

/**
 * Renews leases of this process in one statement, and returns those that nobody has taken over. They include leases
 * that were released while this ran: their writers have finished and did not lose them. The rows are locked in the
 * order of their ids, as by every statement that locks several files.
 */
export async function renewLeases(
  db: Db,
  { leaseMs }: LeaseHolder,
  leases: Fenced[],
): Promise<ReadonlySet<string>> {
  const held = JSON.stringify(leases.map(({ fileId, fence }) => ({ id: fileId, fence })))
  const renewed = await rows<{ id: string }>(
    db,
    sql`
    with held as (select * from jsonb_to_recordset(${held}::jsonb) as held(id uuid, fence int)),
    ours as (
      select f.id from files f join held on f.id = held.id
      where ${heldBy({ fence: sql`held.fence` })} order by f.id for update of f
    ),
    renewed as (
      update files f set lease_until = now() + ${leaseMs}::int * interval '1 millisecond'
      from ours where f.id = ours.id
    )
    select f.id from files f join held on f.id = held.id and f.lease_fence = held.fence`,
  )
  return new Set(renewed.map(({ id }) => id))
}
