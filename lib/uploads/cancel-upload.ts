import { sql } from 'drizzle-orm'
import { rows } from '../platform/db/database.ts'
import { SluiceError } from '../platform/kernel/errors.ts'
import { endUpload } from './end-upload.ts'
import type { UploadContext } from './upload-context.ts'

type Canceling = Pick<UploadContext, 'db' | 'clock' | 'announce' | 'metrics'>

/** The client or the customer gives an unfinished upload up. Whoever is writing it is stopped by its lost lease. */
export async function cancelUpload(
  context: Canceling,
  { fileId, workspaceId }: { fileId: string; workspaceId: string },
): Promise<void> {
  const [file] = await rows<{ status: string }>(
    context.db,
    sql`select status from files where id = ${fileId}::uuid and workspace_id = ${workspaceId}::uuid`,
  )
  if (!file) throw new SluiceError('upload_not_found')
  const end = { status: 'canceled', reason: null, from: ['uploading'] } as const
  if (file.status === 'uploading' && (await endUpload(context, fileId, end))) return
  if (file.status === 'canceled') return
  const words =
    file.status === 'uploading' || file.status === 'transferring'
      ? 'All its bytes are here and it is being completed, so it cannot be canceled any more.'
      : `It is ${file.status} already.`
  throw new SluiceError('conflict', words)
}
