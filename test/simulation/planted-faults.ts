// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are excerpts of the source
import type { Edit } from './load-core.ts'
import { DECISION_FAULTS, DESTINATION_FAULTS } from './planted-further-faults.ts'

/** A possible mistake in the core, and the invariant that reveals it. */
export type PlantedFault = {
  name: string
  /** The commit that fixed it, if it was a real mistake. */
  mendedBy?: string
  /** The mistake must show within this many seeds. */
  withinSeeds: number
  edits: Edit[]
}

/** A real mistake that the simulation does not find. */
export type UnplantedFault = { name: string; mendedBy: string; why: string }

export const UNPLANTED_FAULTS: UnplantedFault[] = [
  {
    name: 'bytes are staged after the lease has expired',
    mendedBy: 'b4c12f2',
    why: 'The next writer did not see bytes that were staged while its own statement waited for the row. Statements do not overlap in this way in the simulation, and today a second statement deletes such bytes: a statement that stages bytes later finds a different claim. `leases.db.test.ts` covers the overlap.',
  },
]

/**
 * Verifies that the simulation finds what it is meant to find. Each fault is written into the core's source as it is
 * loaded.
 */
export const PLANTED_FAULTS: PlantedFault[] = [
  {
    name: 'writes do not name their lease',
    withinSeeds: 1000,
    edits: [
      {
        find: 'return sql`lease_holder = ${claim}`',
        replace: 'return sql`${claim}::text is not null`',
      },
    ],
  },
  {
    name: 'a part is sent while its number is being bound',
    withinSeeds: 200,
    edits: [
      {
        find: 'const [multipartId] = await Promise.all([this.#multipart, bound])',
        replace: 'const [multipartId] = await Promise.all([this.#multipart])',
      },
    ],
  },
  {
    name: 'the event is written after the transaction',
    withinSeeds: 200,
    edits: [
      {
        find: 'if (status) await emitEvents(tx, fileId)',
        replace:
          'if (status) setTimeout(() => void db.transaction((own) => emitEvents(own, fileId)).catch(() => {}), 1)',
      },
    ],
  },
  {
    name: 'the statement that ends a request forgets the tail',
    withinSeeds: 200,
    edits: [
      {
        find: "if (tail && tail !== 'staged')",
        replace: "if (tail && tail !== 'staged' && !change.release)",
      },
    ],
  },
  {
    name: 'a part that was not recorded is confirmed',
    withinSeeds: 200,
    edits: [
      {
        find: 'await lease.whileHeld(record(db, lease, advanced, nowMs))',
        replace: 'void advance(db, lease, advanced, nowMs).catch(() => {})',
      },
    ],
  },
  {
    name: 'a writer with an outdated row overwrites the bound part numbers',
    mendedBy: '5e4820f',
    withinSeeds: 1000,
    edits: [
      {
        find: 'case when recorded_parts <= ${recordedParts}::int then ${bigints(boundEnds)} else bound_ends end',
        replace: '${bigints(boundEnds)}',
      },
      {
        find: 'recorded_parts = greatest(recorded_parts, ${recordedParts}::int)',
        replace: 'recorded_parts = ${recordedParts}::int',
      },
      {
        find: 'recorded_bytes = greatest(recorded_bytes, ${recordedBytes}::bigint)',
        replace: 'recorded_bytes = ${recordedBytes}::bigint',
      },
    ],
  },
  {
    name: 'a part that waited is sent after its number was released',
    mendedBy: 'e3dc4b6',
    withinSeeds: 1000,
    edits: [
      {
        find: "if (this.#isClosed && !inFlight.isRecorded) throw new Error('The request ended before the part was sent.')",
        replace: '',
      },
    ],
  },
  {
    name: 'parts are bound to a length that may still be rejected',
    mendedBy: '74ca09a',
    withinSeeds: 1000,
    edits: [{ find: ' && !isNewLength(incoming, upload)', replace: '' }],
  },
  {
    name: 'a lost lease is remembered and renewed',
    mendedBy: '213349e',
    withinSeeds: 500,
    edits: [
      {
        find: 'return !this.signal.aborted && performance.now()',
        replace: 'return performance.now()',
      },
      {
        find: "} finally {\n    lease.forget()\n  }\n  return { state: 'refused'",
        replace:
          "} finally {\n    if (!lease.signal.aborted) lease.forget()\n  }\n  return { state: 'refused'",
      },
    ],
  },
  {
    name: 'parts are planned while another writer has the lease',
    mendedBy: '1fb7d7f',
    withinSeeds: 10_000,
    edits: [{ find: 'const mayPlan = !upload.leased && ', replace: 'const mayPlan = ' }],
  },
  {
    name: 'a dropped upload counts as completed',
    withinSeeds: 10_000,
    edits: [{ find: ' && ageMs < NEVER_DROPPED_BEFORE_MS', replace: '' }],
  },
  {
    name: 'a request keeps the memory of its last bytes',
    withinSeeds: 200,
    edits: [{ find: 'this.#buffer.free()\n', replace: '\n' }],
  },
  {
    name: 'a lease is taken without a new fence',
    withinSeeds: 200,
    edits: [
      {
        find: 'lease_holder = ${claim}, lease_fence = f.lease_fence + 1',
        replace: 'lease_holder = ${claim}, lease_fence = f.lease_fence',
      },
    ],
  },
  {
    name: 'the next writer forgets what part numbers are bound to',
    withinSeeds: 200,
    edits: [{ find: 'else f.bound_ends end,', replace: "else '{}' end," }],
  },
  {
    name: 'the next writer keeps what was staged',
    withinSeeds: 10_000,
    edits: [{ find: 'and tail.offset_bytes >= f.offset_bytes', replace: 'and false' }],
  },
  {
    name: 'a file is transferred before the bucket has responded',
    withinSeeds: 200,
    edits: [
      {
        find: 'const completed = await bucket.completeMultipart(upload, { parts, bytes, crc32 }, options)',
        replace:
          'const completed = { etag: null }; void bucket.completeMultipart(upload, { parts, bytes, crc32 }, options).catch(() => {})',
      },
    ],
  },
  {
    name: 'pieces are deleted before they are joined',
    withinSeeds: 500,
    edits: [
      {
        find: 'joined_into = ${fileId}::uuid\n    where ${among(partialIds)}`)',
        replace:
          'joined_into = ${fileId}::uuid\n    where ${among(partialIds)}`); await tx.execute(sql`update file_destinations set abort_pending = true where file_id in (select value::uuid from jsonb_array_elements_text(${JSON.stringify(partialIds)}::jsonb))`)',
      },
    ],
  },
  {
    name: 'a request that ends marks its bytes as counted without counting them',
    withinSeeds: 200,
    edits: [
      {
        find: '), ${countBytes(sql`done`, nowMs)}${noted}',
        replace: ')${noted}',
      },
    ],
  },
  {
    name: 'the quota does not apply to an upload of unknown length',
    withinSeeds: 500,
    edits: [{ find: 'await assertWithinQuota(tx, lease.rowId, quota, nowMs)', replace: '' }],
  },
  {
    name: 'a rejected request reserves quota anyway',
    mendedBy: '7f86cb5',
    withinSeeds: 10_000,
    edits: [
      {
        find: 'case when ${was}.reserved_bytes = 0 then 0',
        replace: 'case when false then 0',
      },
    ],
  },
  {
    name: 'an upload that ends keeps its reservation',
    withinSeeds: 200,
    edits: [
      {
        find: '${counted(refusedContent)}, reserved_bytes = 0, ${revoked}',
        replace: '${counted(refusedContent)}, ${revoked}',
      },
    ],
  },
  {
    name: 'an upload that ends keeps the bytes that are committed while it waits for its row',
    mendedBy: 'c1fd07b',
    withinSeeds: 10_000,
    edits: [
      {
        find: '    select lanes::text from ended`,',
        replace:
          '    , untailed as (delete from upload_tails t using ended where t.file_id = ended.id), unparted as (delete from file_parts p using ended where p.file_id = ended.id) select lanes::text from ended`,',
      },
      { find: '  await deleteBytes(tx, fileId)\n  return true', replace: '  return true' },
    ],
  },
  {
    name: 'a piece of another type than declared keeps its memory',
    withinSeeds: 500,
    edits: [{ find: '      piece.buffer.free()\n', replace: '' }],
  },
  {
    name: 'a request that fails keeps its buffers',
    withinSeeds: 200,
    edits: [{ find: 'for (const { buffer } of [...this.#waiting]) this.#free(buffer)', replace: '' }],
  },
  {
    name: 'an upload that ends leaves the lease to its writer',
    withinSeeds: 200,
    edits: [
      {
        find: '${counted(refusedContent)}, reserved_bytes = 0, ${revoked}',
        replace: '${counted(refusedContent)}, reserved_bytes = 0',
      },
    ],
  },
  {
    name: 'no node creates the objects of dead nodes',
    withinSeeds: 200,
    edits: [
      {
        find: "{ name: 'reconcile uploads', everyMs: seconds(2), run: () => reconcileUploads(context) },",
        replace: '',
      },
    ],
  },
  {
    name: 'an upload may be canceled after it has ended',
    withinSeeds: 500,
    edits: [
      {
        find: 'where id = ${fileId}::uuid and status in (${states}) and ${provided} for no key update',
        replace:
          "where id = ${fileId}::uuid and (status in (${states}) or ${status} = 'canceled') and ${provided} for no key update",
      },
    ],
  },
  {
    name: 'the failure to bind a part is not handled',
    mendedBy: 'f4cf1b8',
    withinSeeds: 1000,
    edits: [
      {
        find: 'if (this.#isCommitted) return\n    this.#isCommitted = true',
        replace: 'this.#isCommitted = true',
      },
    ],
  },
  ...DESTINATION_FAULTS,
  ...DECISION_FAULTS,
]
