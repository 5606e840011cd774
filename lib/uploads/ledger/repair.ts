import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import type { EverBound } from '../rules/part-numbers.ts'
import { type Insertion, insertsUploads } from './insert-upload.ts'
import { type Claim, type Fenced, heldBy, isFree, taken } from './lease-terms.ts'
import { currentOffset } from './offsets.ts'

/**
 * For a database that was promoted without the last commits of its primary: nodes that live on make up for those that
 * they remember.
 */

type Held = Fenced & { everBound: EverBound }

/**
 * Ends the leases of a process whose writers have stopped, also those that were over, where their release was lost. What a
 * writer has sent may still arrive, so its part numbers are bound again, also where the taking of its lease was lost.
 */
export async function dropLeases(
  db: Db,
  { held, over }: { held: readonly Held[]; over: readonly Pick<Fenced, 'fileId' | 'claim'>[] },
): Promise<void> {
  const ended = sql`lease_until = now() - interval '1 second'`
  const own = held.map(({ fileId, claim, everBound: { afterParts, ends } }) => ({
    id: fileId,
    claim,
    after: afterParts,
    ends,
  }))
  await rows(
    db,
    sql`update files f set ${ended}, bound_fence = f.lease_fence, bound_ends = own.ends[f.recorded_parts - own.after + 1:]
      from jsonb_to_recordset(${JSON.stringify(own)}::jsonb) as own(id uuid, claim text, after int, ends bigint[])
      where f.id = own.id and f.status = 'uploading' and (${heldBy({ claim: sql`own.claim` })} or ${isFree})
        and f.recorded_parts between own.after and own.after + cardinality(own.ends)`,
  )
  const dropped = [...held, ...over].map(({ fileId, claim }) => ({ id: fileId, claim }))
  await rows(
    db,
    sql`update files f set ${ended} from jsonb_to_recordset(${JSON.stringify(dropped)}::jsonb) as dropped(id uuid, claim text)
      where f.id = dropped.id and f.status in ('uploading', 'transferring') and ${heldBy({ claim: sql`dropped.claim` })}`,
  )
}

/** Takes the lease of a file that nobody writes, also where only its object was missing. */
export async function takeForRepair(
  db: Db,
  claim: Claim,
  fileId: string,
): Promise<{ fence: number } | undefined> {
  const [row] = await rows<{ fence: number }>(
    db,
    sql`update files f set ${taken(claim)}
      where id = ${fileId}::uuid and status in ('uploading', 'transferring') and ${isFree}
      returning lease_fence as fence`,
  )
  return row
}

/** A client has its address. */
export async function createAgain(
  deps: Parameters<typeof insertsUploads>[0],
  { first: _, upload, ...insertion }: Insertion,
): Promise<'made again' | 'is there'> {
  if (await currentOffset(deps.db, upload.fileId)) return 'is there'
  // Its token had room for it.
  await insertsUploads(deps)({ ...insertion, upload: { ...upload, maxFiles: null } })
  return 'made again'
}
