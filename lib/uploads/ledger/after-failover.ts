import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { type SealedDataStore, sealedDataStoreColumn } from '../../workspace/data-stores/sealed-data-store.ts'
import type { EverBound } from '../rules/part-numbers.ts'
import { type Insertion, insertsUploads } from './insert-upload.ts'
import { type Claim, type Fenced, heldBy, isFree, released, taken } from './lease-terms.ts'
import { currentOffset } from './offsets.ts'

/**
 * For a standby that was promoted without the old primary's last commits: surviving nodes restore those that they
 * remember.
 */

type Held = Fenced & { everBound: EverBound }

/**
 * Ends the leases of a process whose writers have stopped, including leases of finished writers whose release was lost.
 * A writer's requests may still arrive at the bucket, so its part numbers are bound again, even if the acquisition of
 * its lease was lost.
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
    sql`update files f set ${ended}, bound_ends = own.ends[f.recorded_parts - own.after + 1:]
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

/** Takes the lease on a file that nobody is writing, even if only its object is missing. */
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

/** Restores the record of an upload whose address a client already has. */
export async function createAgain(
  deps: Parameters<typeof insertsUploads>[0],
  { first: _, upload, ...insertion }: Insertion,
): Promise<'made again' | 'is there'> {
  if (await currentOffset(deps.db, upload.fileId)) return 'is there'
  // The token's file limit was checked when the upload was first created.
  await insertsUploads(deps)({ ...insertion, upload: { ...upload, maxFiles: null } })
  return 'made again'
}

/** The functions below are for a restored database, which may not know objects that were created after the backup. */

/**
 * For a restored database: drops expired leases. When an upload ends while it has a lease, the object that its writer
 * may have created is deleted. After a restore, that object may be a file that was delivered since the backup.
 */
export async function dropLapsedLeases(db: Db): Promise<number> {
  const dropped = await rows(
    db,
    sql`update files set ${released}, interrupted = true
      where status = 'uploading' and lease_until < now() returning id`,
  )
  return dropped.length
}

export type Unfinished = {
  id: string
  lengthBytes: number
  /** The required destinations come first. */
  destinations: readonly { key: string; required: boolean; dataStore: SealedDataStore }[]
}

const PAGE = 100

/** A page, in id order, of uploads of known length that nobody is writing and whose required buckets can be read. */
export function unfinishedAfter(db: Db, after: string): Promise<Unfinished[]> {
  return rows<Unfinished>(
    db,
    sql`select f.id, f.length_bytes as "lengthBytes", json_agg(json_build_object('key', d.key,
          'required', d.required is distinct from false, 'dataStore', ${sealedDataStoreColumn()}) order by d.position) as destinations
      from files f join file_destinations d on d.file_id = f.id join data_stores ds on ds.id = d.data_store_id
      where f.id > ${after}::uuid and f.status = 'uploading' and f.length_bytes is not null
        and f.concat is distinct from 'partial' and ${isFree}
      group by f.id having bool_and(d.required is false or ds.deleted_at is null and ds.may_read)
      order by f.id limit ${PAGE}::int`,
  )
}

/** All Data Stores except deleted ones and those of the demo. */
export function listedDataStores(db: Db): Promise<{ name: string; dataStore: SealedDataStore }[]> {
  return rows(
    db,
    sql`select ds.name, ${sealedDataStoreColumn()} as "dataStore" from data_stores ds
      where ds.deleted_at is null
        and not exists (select from workspaces w where w.id = ds.workspace_id and w.demo) order by ds.id`,
  )
}

/** Returns which of these keys belong to a file in the bucket. */
export async function knownKeys(
  db: Db,
  bucket: string,
  keys: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = await rows<{ key: string }>(
    db,
    sql`select key from file_destinations where bucket = ${bucket}
      and key in (select value from jsonb_array_elements_text(${JSON.stringify(keys)}::jsonb))`,
  )
  return new Set(found.map(({ key }) => key))
}
