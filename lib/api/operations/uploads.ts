import { z } from 'zod'
import { backendUploadInput, createBackendUpload } from '../../backend-uploads/create-backend-upload.ts'
import { fileAnswer } from '../../dashboard/files/file.ts'
import { readFiles } from '../../dashboard/files/list-files.ts'
import { operationsOf } from '../operation.ts'

const { senderOperation } = operationsOf('Uploads')

const createdUploadAnswer = z.strictObject({
  /** The URL to which the client sends the bytes with PATCH: the `uploadUrl` of tus-js-client. */
  uploadUrl: z.string(),
  /** Only valid for this upload, until it ends. */
  token: z.string(),
  /** When the upload expires if no more bytes arrive. New bytes postpone this. */
  expiresAt: z.iso.datetime(),
  file: fileAnswer,
})

export const uploadOperations = [
  senderOperation('POST /uploads', {
    id: 'createUpload',
    summary:
      'Create an upload whose name, type, length and metadata the client cannot change. Returns its URL and a token that is only valid for this upload.',
    body: backendUploadInput,
    once: true,
    status: 201,
    answer: createdUploadAnswer,
    problems: [
      'pipe_not_found',
      { code: 'pipe_source_off', status: 409 },
      'forbidden',
      'data_store_not_ready',
      'type_not_allowed',
      'file_too_large',
      'quota_exceeded',
      'rate_limited',
    ],
    async run({ runtime, who, body }) {
      const { fileId, token, uploadUrl } = await createBackendUpload(runtime, who, body)
      const [file] = await readFiles(runtime.db, [fileId])
      return { uploadUrl, token, expiresAt: file!.expiresAt, file: file! }
    },
  }),
]
