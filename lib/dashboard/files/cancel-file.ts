import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { cancelUpload, endingContext } from '../../uploads/endings/end-upload.ts'
import type { File } from './file.ts'
import { findFile } from './find-file.ts'
import { readFiles } from './list-files.ts'

type Needs = Pick<Runtime, 'db' | 'clock' | 'queue' | 'metrics'>

/** Gives an upload under way up, as its client could. Refused once all its bytes are there. */
export async function cancelFile(runtime: Needs, actor: Actor, id: string): Promise<File> {
  const { db, clock } = runtime
  return db.transaction(async (tx) => {
    const { filename } = await findFile(tx, actor, id)
    await cancelUpload(endingContext({ ...runtime, db: tx }), { fileId: id, workspaceId: actor.workspaceId })
    const entry = { action: 'file.canceled', subjectId: id, subjectLabel: filename }
    await recordAudit({ db: tx, clock }, actor, entry)
    const [file] = await readFiles(tx, [id])
    return file!
  })
}
