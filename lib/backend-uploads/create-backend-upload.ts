import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { tokens } from '#drizzle/schema/index.ts'
import { isPlainText, lengthField } from '../platform/kernel/parse-input.ts'
import type { Runtime } from '../platform/runtime.ts'
import { NO_CHECKSUMS } from '../uploads/rules/checksums.ts'
import { uploadUrlOf } from '../workspace/pipes/pipe.ts'
import { issueToken } from '../workspace/tokens/issue-token.ts'
import { tokenInput } from '../workspace/tokens/token.ts'
import { createForBackend, rightOf } from './create-for-backend.ts'

const { pipeId, maxBytes, keyPrefix, subject, metadata, object, batch } = tokenInput.shape

const line = (most: number) =>
  z
    .string()
    .min(1, 'must not be empty')
    .max(most, `must have at most ${most} characters`)
    .refine(isPlainText, 'must not contain control characters')

export const backendUploadInput = z.strictObject({
  pipeId,
  filename: line(255),
  filetype: line(255).optional(),
  /** Omitted if the client will declare the size. */
  size: lengthField.optional(),
  /** The file's path in a folder, including its name, for key templates with {path}. */
  path: line(1024).optional(),
  /** The checksum of the entire file. The upload fails if other bytes arrive. */
  checksum: z
    .string()
    .toLowerCase()
    .regex(/^crc32:[0-9a-f]{8}$/, 'must be crc32: and 8 hexadecimal digits')
    .optional(),
  subject,
  maxBytes,
  keyPrefix,
  metadata,
  object,
  batch,
})
export type BackendUploadInput = z.output<typeof backendUploadInput>

/**
 * Creates an upload for a client that only sends its bytes. The upload's token is already expired when
 * issued: an expired token cannot create uploads, but stays valid for existing ones until they end.
 */
export function createBackendUpload(
  runtime: Runtime,
  senderToken: string,
  { filename, filetype, size, path, checksum, ...token }: BackendUploadInput,
): Promise<{ fileId: string; token: string; uploadUrl: string }> {
  return runtime.db.transaction(async (tx) => {
    const inside = { ...runtime, db: tx }
    const issuing = { ...token, expiresIn: 60, allowedTypes: [] }
    const issued = await issueToken(inside, senderToken, issuing, 'http')
    const right = await rightOf(inside, issued)
    const uploadMetadata: Record<string, string> = path === undefined ? {} : { relativePath: path }
    const [fileId] = await createForBackend(inside, right, [
      {
        filename,
        filetype: filetype ?? null,
        lengthBytes: size ?? null,
        relativePath: path ?? null,
        ...(checksum && {
          checksums: { ...NO_CHECKSUMS, crc32: Number.parseInt(checksum.slice('crc32:'.length), 16) },
        }),
        uploadMetadata,
        uploadMetadataHeader: metadataHeader({ filename, filetype, ...uploadMetadata }),
        concat: null,
        protocol: 'tus',
      },
    ])
    await tx
      .update(tokens)
      .set({ expiresAt: new Date(runtime.clock.now()) })
      .where(eq(tokens.id, right.token.id))
    const uploadUrl = `${uploadUrlOf(runtime.config, token.pipeId)}${fileId}`
    return { fileId: fileId!, token: issued.token, uploadUrl }
  })
}

/** The `Upload-Metadata` that a client would have sent, because HEAD returns it. */
function metadataHeader(pairs: Record<string, string | undefined>): string {
  return Object.entries(pairs)
    .flatMap(([name, value]) => (value ? [`${name} ${Buffer.from(value).toString('base64')}`] : []))
    .join(',')
}
