import { type Actor, recordAudit } from '../audit/record-audit.ts'
import { emitFileEvent } from '../events/emit-file-event.ts'
import type { Runtime } from '../runtime.ts'
import { cancelUpload } from '../uploads/cancel-upload.ts'
import type { UploadContext } from '../uploads/upload-context.ts'
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

/** What ending an upload takes, without what carrying its bytes takes. */
export function endingContext(runtime: Needs): Pick<UploadContext, 'db' | 'clock' | 'metrics' | 'announce'> {
  const { db, clock, metrics } = runtime
  return { db, clock, metrics, announce: (tx, ...fileIds) => emitFileEvent(tx, runtime, ...fileIds) }
}
