import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import type { Fenced, LeaseTerms } from './lease-terms.ts'

/**
 * Renews all leases of this process in one statement, and answers those that nobody has taken over. One that was let go
 * while this ran is among them: its own writer did that, and must not be told that it lost. Locked in order, as by all who
 * lock many files.
 */
export async function renewLeases(
  db: Db,
  { leaseMs }: LeaseTerms,
  leases: Fenced[],
): Promise<ReadonlySet<string>> {
  const held = JSON.stringify(leases.map(({ fileId, fence }) => ({ id: fileId, fence })))
  const renewed = await rows<{ id: string }>(
    db,
    sql`
    with held as (select * from jsonb_to_recordset(${held}::jsonb) as held(id uuid, fence int)),
    ours as (
      select f.id from files f join held on f.id = held.id and f.lease_fence = held.fence
      where f.lease_until is not null order by f.id for update of f
    ),
    renewed as (
      update files f set lease_until = now() + ${leaseMs}::int * interval '1 millisecond'
      from ours where f.id = ours.id
    )
    select f.id from files f join held on f.id = held.id and f.lease_fence = held.fence`,
  )
  return new Set(renewed.map(({ id }) => id))
}
