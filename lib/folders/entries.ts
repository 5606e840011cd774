import { type SQL, sql } from 'drizzle-orm'
import type { FileStatus } from '#drizzle/schema/index.ts'
import { type Db, rows } from '../platform/db/database.ts'
import { days } from '../platform/kernel/clock.ts'
import { insertNote } from '../uploads/ledger/timeline.ts'
import type { Place } from './paths.ts'
import type { SignedIn } from './sign-in.ts'
import type { FolderProtocol } from './terms.ts'

/** SQL statements for the directory of a Sender and subject: the files that they uploaded over SFTP or FTP in the last day. */

export type Owner = Pick<SignedIn, 'pipeId' | 'senderId' | 'subject'>

export type Entry = Place & {
  fileId: string
  workspaceId: string
  status: FileStatus
  sizeBytes: number
  modifiedMs: number
}

/** How long a finished file is listed. An unfinished one is listed until it expires. */
const LISTED_MS = days(1)

const isOf = ({ pipeId, senderId, subject }: Owner): SQL =>
  sql`e.pipe_id = ${pipeId} and e.sender_id = ${senderId}::uuid
    and e.subject ${subject === null ? sql`is null` : sql`= ${subject}`}`

function isListed(nowMs: number): SQL {
  const since = sql`${new Date(nowMs - LISTED_MS).toISOString()}::timestamptz`
  return sql`f.erased_at is null and (f.status = 'uploading'
    or f.status in ('transferring', 'transferred', 'partially_transferred') and f.created_at > ${since})`
}

const COLUMNS = sql`e.file_id as "fileId", e.folder, e.name, f.workspace_id as "workspaceId", f.status, f.offset_bytes as "sizeBytes",
  floor(extract(epoch from coalesce(e.modified_at, f.created_at)) * 1000)::bigint as "modifiedMs"`

/** The newest file at this path. */
export async function findEntry(
  db: Db,
  owner: Owner,
  { folder, name }: Place,
  nowMs: number,
): Promise<Entry | undefined> {
  const [found] = await rows<Entry>(
    db,
    sql`select ${COLUMNS} from sftp_entries e join files f on f.id = e.file_id
      where ${isOf(owner)} and e.folder = ${folder} and e.name = ${name} and ${isListed(nowMs)}
      order by e.file_id desc limit 1`,
  )
  return found
}

/** The files in a folder after a given name, in name order. */
export function listEntries(
  db: Db,
  owner: Owner,
  { folder, after, limit }: { folder: string; after: string; limit: number },
  nowMs: number,
): Promise<Entry[]> {
  return rows<Entry>(
    db,
    sql`select distinct on (e.name) ${COLUMNS} from sftp_entries e join files f on f.id = e.file_id
      where ${isOf(owner)} and e.folder = ${folder} and e.name > ${after} and ${isListed(nowMs)}
      order by e.name, e.file_id desc limit ${limit}::int`,
  )
}

/**
 * An SQL condition for files in a folder, or at any depth below it: paths below `a` sort between `a/` and `a0`, because
 * `/` is followed by `0`.
 */
const isWithin = (folder: SQL): SQL =>
  sql`(e.folder = ${folder} or e.folder > ${folder} || '/' and e.folder < ${folder} || '0')`

const holdsFiles = (owner: Owner, folder: SQL, nowMs: number): SQL =>
  sql`exists (select from sftp_entries e join files f on f.id = e.file_id
    where ${isOf(owner)} and ${isWithin(folder)} and ${isListed(nowMs)})`

export async function isFolder(db: Db, owner: Owner, folder: string, nowMs: number): Promise<boolean> {
  const look = sql`select ${holdsFiles(owner, sql`${folder}::text`, nowMs)} as found`
  return (await rows<{ found: boolean }>(db, look))[0]!.found
}

/**
 * The names of a folder's subfolders that contain files. The query uses the index to skip from one subfolder to the
 * next, however many files each one has: `/` is followed by `0`, so everything below `a` sorts before `a0`.
 */
export async function listFolders(
  db: Db,
  owner: Owner,
  { folder, limit }: { folder: string; limit: number },
  nowMs: number,
): Promise<string[]> {
  const prefix = folder === '' ? '' : `${folder}/`
  const start = sql`${[...prefix].length + 1}::int`
  const isBelow = folder === '' ? sql`` : sql`and e.folder < ${`${folder}0`}`
  const next = (from: SQL) =>
    sql`(select min(e.folder) from sftp_entries e where ${isOf(owner)} and e.folder >= ${from} ${isBelow})`
  const child = sql`(${prefix} || split_part(substr(at, ${start}), '/', 1))`
  const found = await rows<{ name: string }>(
    db,
    sql`with recursive steps(at, n) as (
        select ${next(sql`${prefix} || chr(1)`)}, 1
        union all select ${next(sql`case when at = ${child} then at || chr(1) else ${child} || '0' end`)}, n + 1
          from steps where at is not null and n < ${2 * limit}::int
      ), children as (select distinct ${child} as path from steps where at is not null)
      select substr(path, ${start}) as name from children where ${holdsFiles(owner, sql`path`, nowMs)} order by name`,
  )
  return found.map(({ name }) => name)
}

export type Opening = { protocol: FolderProtocol; address: string; fingerprint: string | null }

/** Adds a new file to the directory, and the client's address to the file's timeline. */
export async function addEntry(
  db: Db,
  owner: Owner,
  { fileId, folder, name, opening }: Place & { fileId: string; opening: Opening },
  nowMs: number,
): Promise<void> {
  const { pipeId, senderId, subject } = owner
  await db.execute(
    sql`with added as (
        insert into sftp_entries (file_id, pipe_id, sender_id, subject, folder, name, created_at)
        values (${fileId}::uuid, ${pipeId}, ${senderId}::uuid, ${subject}, ${folder}, ${name}, ${new Date(nowMs).toISOString()}::timestamptz)
        returning file_id as id
      ) ${noteOf(opening, nowMs)}`,
  )
}

/** Adds the opening to the timeline, because a file may be continued from another address or with another key. */
export async function noteOpening(db: Db, fileId: string, opening: Opening, nowMs: number): Promise<void> {
  await db.execute(sql`with added as (select ${fileId}::uuid as id) ${noteOf(opening, nowMs)}`)
}

const noteOf = ({ protocol, ...detail }: Opening, nowMs: number): SQL =>
  insertNote({ kind: `${protocol}_opened`, detail }, sql`added`, nowMs)

/** Moves a file to a new path. The previous file at that path is no longer listed. */
export async function moveEntry(
  db: Db,
  owner: Owner,
  { fileId, to }: { fileId: string; to: Place },
): Promise<void> {
  await db.execute(
    sql`with replaced as (delete from sftp_entries e where ${isOf(owner)} and e.folder = ${to.folder} and e.name = ${to.name}
        and e.file_id <> ${fileId}::uuid)
      update sftp_entries set folder = ${to.folder}, name = ${to.name} where file_id = ${fileId}::uuid`,
  )
}

/** Removes the entries of all files at this path, including older files that were replaced. */
export async function removeEntries(db: Db, owner: Owner, { folder, name }: Place): Promise<void> {
  await db.execute(
    sql`delete from sftp_entries e where ${isOf(owner)} and e.folder = ${folder} and e.name = ${name}`,
  )
}

export async function setModified(db: Db, fileId: string, modifiedMs: number): Promise<void> {
  await db.execute(
    sql`update sftp_entries set modified_at = ${new Date(modifiedMs).toISOString()}::timestamptz where file_id = ${fileId}::uuid`,
  )
}

export const ENTRIES_AT_ONCE = 1000

/** Deletes entries that are no longer listed. */
export async function pruneEntries(db: Db, nowMs: number): Promise<number> {
  const before = (ms: number) => sql`${new Date(nowMs - ms).toISOString()}::timestamptz`
  const pruned = await rows(
    db,
    sql`delete from sftp_entries where file_id = any(array(
      select e.file_id from sftp_entries e join files f on f.id = e.file_id
      where e.created_at < ${before(LISTED_MS)} and f.status <> 'uploading' limit ${ENTRIES_AT_ONCE}::int)) returning 1`,
  )
  return pruned.length
}
