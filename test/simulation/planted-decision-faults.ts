// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are excerpts of the source
import type { PlantedFault } from './planted-faults.ts'

/** Mistakes concerning files that the customer's backend decides about. */
export const DECISION_FAULTS: PlantedFault[] = [
  {
    name: 'the object is created before the hook has decided',
    withinSeeds: 200,
    edits: [
      {
        find: 'if (upload.isGated) return holdForDecision(upload, parts, last, { hasParts })\n',
        replace: '',
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
