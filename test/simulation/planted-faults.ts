// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are texts of the source
import type { Edit } from './load-core.ts'

/** A mistake that somebody could make in the core, and the invariant by which it shows. */
export type PlantedFault = {
  name: string
  /** Of git history, where it was real. */
  mendedBy?: string
  /** The mistake shows within this many seeds. */
  withinSeeds: number
  edits: Edit[]
}

/** To see that the simulation finds what it is for. Each is written into the source of the core as that is loaded. */
export const PLANTED_FAULTS: PlantedFault[] = [
  {
    name: 'writes do not name their lease',
    withinSeeds: 2000,
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
        find: 'await emitEvents(tx, lease.fileId)',
        replace:
          'setTimeout(() => void db.transaction((own) => emitEvents(own, lease.fileId)).catch(() => {}), 1)',
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
    name: 'a part that was not recorded is answered as if it were',
    withinSeeds: 200,
    edits: [
      {
        find: 'await lease.whileHeld(advance(db, lease, advanced, nowMs))',
        replace: 'void advance(db, lease, advanced, nowMs).catch(() => {})',
      },
    ],
  },
  {
    name: 'a writer behind its row writes down what it believes of part numbers',
    mendedBy: '5e4820f',
    withinSeeds: 2000,
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
    name: 'a part that waited is sent after its number was let go',
    mendedBy: 'e3dc4b6',
    withinSeeds: 2000,
    edits: [
      {
        find: "if (this.#isClosed) throw new Error('The request ended before the part was sent.')",
        replace: '',
      },
    ],
  },
  {
    name: 'parts are planned while another writer has the lease',
    mendedBy: '1fb7d7f',
    withinSeeds: 2000,
    edits: [{ find: 'const mayPlan = !upload.leased && ', replace: 'const mayPlan = ' }],
  },
  {
    name: 'parts are bound to a length that may still be refused',
    mendedBy: '74ca09a',
    withinSeeds: 2000,
    edits: [{ find: ' && !isNewLength(incoming, upload)', replace: '' }],
  },
  {
    name: 'bytes are staged after the lease has expired',
    mendedBy: 'b4c12f2',
    withinSeeds: 2000,
    edits: [
      {
        find: '${heldBy(lease)} and lease_until > now()',
        replace: '${heldBy(lease)}',
      },
    ],
  },
  {
    name: 'a lease that was lost is renewed',
    mendedBy: '213349e',
    withinSeeds: 500,
    edits: [
      {
        find: 'return !this.signal.aborted && (ageMs < 0',
        replace: 'return (ageMs < 0',
      },
    ],
  },
  {
    name: 'a dropped upload counts as completed',
    withinSeeds: 2000,
    edits: [{ find: ' && ageMs < NEVER_DROPPED_BEFORE_MS', replace: '' }],
  },
  {
    name: 'a request keeps the memory of its last bytes',
    withinSeeds: 200,
    edits: [{ find: 'this.#buffer.free()\n', replace: '\n' }],
  },
]
