import { isSluiceError, SluiceError } from '../../platform/kernel/errors.ts'
import { type Accepted, type AppendOptions, appendBytes } from '../../uploads/append.ts'
import { takeBackUpload } from '../../uploads/endings/end-upload.ts'
import { maxUploadBytes } from '../../uploads/opening/may-create.ts'
import { readProgress } from '../../uploads/opening/report-offset.ts'
import type { Upload } from '../../uploads/opening/upload.ts'
import { classify } from '../../uploads/rules/faults.ts'
import type { ByteSource } from '../../uploads/stream/pieces.ts'
import type { CreationRight, UploadContext } from '../../uploads/upload-context.ts'
import type { BodyCheck } from './body-check.ts'
import { afterDecision } from './decision.ts'

/** A request's bytes, and how to verify them if the client sent digests. */
export type Body = { source: ByteSource; check: BodyCheck | undefined }

/**
 * Receives a request's bytes. If these include the last byte and a hook decides on the file, waits for the decision.
 */
export async function receiveBody(
  context: UploadContext,
  upload: Upload,
  body: Body,
  options: Omit<AppendOptions, 'check'>,
): Promise<Accepted> {
  return afterDecision(context, upload, await receive(context, upload, body, options))
}

async function receive(
  context: UploadContext,
  upload: Upload,
  { source, check }: Body,
  options: Omit<AppendOptions, 'check'>,
): Promise<Accepted> {
  context.metrics.uploadsOpen.inc()
  try {
    return await appendBytes(context, upload, source, { ...options, check })
  } catch (error) {
    throw await withOffset(context, upload, error)
  } finally {
    context.metrics.uploadsOpen.dec()
  }
}

/**
 * Receives an upload's first bytes. If that fails, the creation is undone, unless the client may continue
 * because it knows the address, or can learn it by repeating the creation.
 */
export async function receiveFirstBody(
  context: UploadContext,
  { token, pipe }: CreationRight,
  upload: Upload,
  {
    body,
    addressKnown,
    ...options
  }: Omit<AppendOptions, 'check' | 'limitBytes'> & { body: Body; addressKnown?: boolean },
): Promise<Accepted> {
  const may = { tokenBytes: token.maxBytes, pipeBytes: pipe.maxFileBytes }
  const limitBytes = upload.progress.lengthBytes ?? maxUploadBytes(upload.limits, may)
  const receiving = receive(context, upload, body, { limitBytes, ...options })
  const appended = await receiving.catch(async (error: unknown) => {
    const { blame } = classify(error, 'put')
    // A client that knows the address can continue after most errors, but bytes that were refused would be refused
    // again.
    if (addressKnown ? blame === 'client' : blame !== 'end')
      await takeBackUpload(context, upload, { tokenId: token.id, error })
    throw error
  })
  return afterDecision(context, upload, appended)
}

/**
 * For a writer that has lost its lease: adds the current offset to the error, or replaces the error if the upload has
 * ended.
 */
async function withOffset(context: UploadContext, { lease }: Upload, error: unknown): Promise<unknown> {
  if (!isSluiceError(error) || error.code !== 'upload_locked' || error.headers['Upload-Offset']) return error
  const now = await readProgress(context, lease.rowId).catch(() => undefined)
  if (!now) return error
  if (!['uploading', 'transferring', 'transferred'].includes(now.status))
    return new SluiceError('upload_gone', 'The upload ended while this request was writing it.')
  return new SluiceError('upload_locked', error.message, {
    headers: { 'Upload-Offset': String(now.offsetBytes) },
  })
}
