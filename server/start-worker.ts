import { decisionSweeps } from '../lib/hooks/decide-files.ts'
import { startMailWorker } from '../lib/identity/accounts/mail-worker.ts'
import { startImportWorker } from '../lib/imports/import-worker.ts'
import type { Runtime } from '../lib/platform/runtime.ts'
import { startSweeps } from '../lib/platform/sweeps.ts'
import { uploadSweeps } from '../lib/recovery/upload-sweeps.ts'
import type { UploadContext } from '../lib/uploads/upload-context.ts'
import { startWebhookWorker } from '../lib/webhooks/delivery/dispatcher.ts'
import { webhookSweeps } from '../lib/webhooks/delivery/sweeps.ts'
import { controlSweeps } from './control-sweeps.ts'
import type { Part } from './stop-on-signal.ts'

/** Starts the workers and the sweeps of the role `worker`. */
export async function startWorker(runtime: Runtime, uploads: UploadContext): Promise<Part[]> {
  await startMailWorker(runtime)
  return [
    await startWebhookWorker(runtime),
    startImportWorker(runtime, uploads),
    startSweeps(
      [
        ...webhookSweeps(runtime),
        ...uploadSweeps(uploads),
        ...decisionSweeps(uploads),
        ...controlSweeps(runtime),
      ],
      runtime.log,
    ),
  ]
}
