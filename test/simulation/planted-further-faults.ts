// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are excerpts of the source
import type { PlantedFault } from './planted-faults.ts'

/** Mistakes concerning files that the customer's backend decides about. */
export const DECISION_FAULTS: PlantedFault[] = [
  {
    name: 'the object is created before the hook has decided',
    withinSeeds: 200,
    edits: [
      {
        find: 'if (!hasParts && !upload.isGated) return putWhole',
        replace: 'if (!hasParts) return putWhole',
      },
    ],
  },
  {
    name: 'a later answer replaces the stored decision',
    withinSeeds: 500,
    edits: [
      { find: "sql`decision = 'asked' and ${heldBy(lease)}`", replace: 'heldBy(lease)' },
      { find: "where d.state = 'deferred' returning d.file_id as id", replace: 'returning d.file_id as id' },
    ],
  },
  {
    name: 'no node asks again about the files of dead nodes',
    withinSeeds: 500,
    edits: [
      {
        find: "{ name: 'request decisions', everyMs: seconds(2), run: () => decideFiles(context) },",
        replace: '',
      },
    ],
  },
  {
    name: 'a rejected file ends outside the transaction of its decision',
    withinSeeds: 500,
    edits: [
      {
        find: "if (verdict.state === 'rejected') await endUpload({ ...context, db: tx }, fileId, end)",
        replace:
          "if (verdict.state === 'rejected') setTimeout(() => void endUpload(context, fileId, end).catch(() => {}), 1)",
      },
    ],
  },
]

/** Faults in the handling of multiple destinations. */
export const DESTINATION_FAULTS: PlantedFault[] = [
  {
    name: 'the offset follows the fastest destination',
    withinSeeds: 200,
    edits: [
      {
        find: 'await Promise.all(\n      this.#required.map(async (sender) =>',
        replace: 'await Promise.any(\n      this.#required.map(async (sender) =>',
      },
    ],
  },
  {
    name: 'one destination that has the whole file is enough',
    withinSeeds: 500,
    edits: [
      {
        find: 'const required = puts.filter(({ destination }) => destination.required)',
        replace: 'const required = puts.filter(({ destination }) => destination.required).slice(0, 1)',
      },
    ],
  },
  {
    name: 'the ETag of one destination is stored for another',
    withinSeeds: 200,
    edits: [{ find: 'this.#etags[position - 1] = etag', replace: 'this.#etags.fill(etag)' }],
  },
  {
    name: 'an object is completed with the ETags of another bucket',
    withinSeeds: 200,
    edits: [
      {
        find: 'await readParts(db, fileId, destination.position)',
        replace: 'await readParts(db, fileId, 1)',
      },
    ],
  },
  {
    name: 'a buffer is freed after its first reader',
    withinSeeds: 500,
    edits: [{ find: 'if (trailing) buffer.keepUntil(trailing)\n', replace: '\n' }],
  },
  {
    name: 'a buffer is kept after its last reader',
    withinSeeds: 500,
    edits: [{ find: 'if (this.#isDone) this.free()', replace: '' }],
  },
  {
    name: 'a failed best-effort destination fails the file',
    withinSeeds: 200,
    edits: [
      {
        find: 'const required = destinations.filter((one) => one.required)\n  const judged',
        replace: 'const required = destinations\n  const judged',
      },
    ],
  },
  {
    name: 'a file is transferred although a best-effort destination has failed',
    withinSeeds: 200,
    edits: [
      {
        find: "return destinations.every(({ status }) => status === 'transferred')",
        replace: "return destinations.some(({ status }) => status === 'transferred')",
      },
    ],
  },
  {
    name: 'the end of an abandoned destination is not recorded',
    withinSeeds: 200,
    edits: [
      {
        find: "d.status in ('pending', 'transferring') and not d.required",
        replace: 'false',
      },
    ],
  },
  {
    name: 'a late object revives an abandoned destination',
    mendedBy: '4c6919c',
    withinSeeds: 10_000,
    edits: [{ find: " and d.status <> 'failed'`,\n  )", replace: '`,\n  )' }],
  },
  {
    name: 'a file is finished before its last objects are recorded',
    withinSeeds: 200,
    edits: [
      {
        find: 'if (storedAt.length > 0) await store(tx, lease, storedAt)\n  const destinations',
        replace: 'const destinations',
      },
    ],
  },
  {
    name: 'a file is complete once one of its lanes is',
    withinSeeds: 200,
    edits: [
      {
        find: "if (lanes.some(({ status }) => status !== 'transferred')) return { kind: 'waiting' }",
        replace: '',
      },
    ],
  },
  {
    name: 'the lanes of an ended file go on',
    withinSeeds: 500,
    edits: [
      { find: 'if (end.lanes) await endLanes(tx, { fileId, lanes: end.lanes, status }, nowMs)', replace: '' },
    ],
  },
  {
    name: 'every lane numbers its parts from 1',
    withinSeeds: 200,
    edits: [{ find: 'lane."lengthBytes", lane."partsBefore",', replace: 'lane."lengthBytes", 0,' }],
  },
  {
    name: 'a lane reserves quota beside its file',
    withinSeeds: 200,
    edits: [
      {
        find: 'part_bytes = ${partBytes}::bigint, reserved_bytes = 0',
        replace: 'part_bytes = ${partBytes}::bigint',
      },
    ],
  },
  {
    name: 'the rows of a long tail are recorded with the hash of its end',
    withinSeeds: 200,
    edits: [
      {
        find: 'if (buffer.hashed && buffer.bytes > rowBytes(buffer, { isAwaited })) {',
        replace: 'if (buffer.hashed === null) {',
      },
    ],
  },
  {
    name: 'the hash of a file that was to arrive in one piece starts over',
    withinSeeds: 200,
    edits: [{ find: 'if (native) for (const chunk of chunks) update(chunk)', replace: '' }],
  },
  {
    name: 'a repeated creation makes another file',
    withinSeeds: 200,
    edits: [
      {
        find: 'return idempotencyKey && uuidFrom(pipe.id, token.senderId, token.subject, idempotencyKey)',
        replace: 'return idempotencyKey && uuidFrom(pipe.id, String(Math.random()))',
      },
    ],
  },
  {
    name: 'a repeated creation returns a file that has ended',
    withinSeeds: 500,
    edits: [
      {
        find: "(f.decision = 'rejected'\n",
        replace: '(true\n',
      },
    ],
  },
]
