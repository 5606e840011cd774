import type { DecisionInput } from '../../hooks/answers.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { decideByCall } from '../../uploads/decisions/decide.ts'
import { endingContext } from '../../uploads/endings/end-upload.ts'
import type { File } from './file.ts'
import { readFiles } from './list-files.ts'
import { findFile } from './show-file.ts'

/**
 * Decides about a file whose hook has deferred the decision, or is still being asked: a scan may end before its receiver has
 * answered. The object of an allowed file is made within seconds.
 */
export async function decideOnFile(
  runtime: Pick<Runtime, 'db' | 'clock' | 'queue' | 'metrics'>,
  actor: Actor,
  id: string,
  decision: DecisionInput,
): Promise<File> {
  const { db, clock } = runtime
  return db.transaction(async (tx) => {
    const { filename } = await findFile(tx, actor, id, 'update')
    const outcome = await decideByCall(endingContext({ ...runtime, db: tx }), id, decision)
    if (outcome === 'not open')
      throw new SluiceError('conflict', 'No decision about this file is awaited, or another one was made.')
    const action = decision.allow ? 'file.allowed' : 'file.rejected'
    if (outcome === 'stored')
      await recordAudit({ db: tx, clock }, actor, { action, subjectId: id, subjectLabel: filename })
    const [file] = await readFiles(tx, [id])
    return file!
  })
}
