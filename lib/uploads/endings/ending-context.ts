import { emitFileEvent } from '../../events/emit-file-event.ts'
import type { Runtime } from '../../platform/runtime.ts'
import type { UploadContext } from '../upload-context.ts'

type Needs = Pick<Runtime, 'db' | 'clock' | 'queue' | 'metrics'>

/** The part of the context that ending an upload needs. */
export function endingContext(
  runtime: Needs,
): Pick<UploadContext, 'db' | 'clock' | 'metrics' | 'emitEvents'> {
  const { db, clock, metrics } = runtime
  return { db, clock, metrics, emitEvents: (tx, ...fileIds) => emitFileEvent(tx, runtime, ...fileIds) }
}
