import { z } from 'zod'

/** How a bucket stores objects, set for an entire Data Store or for a Pipe. */

export const storageClassField = z.string().regex(/^[A-Z0-9_-]{1,64}$/, 'must look like STANDARD_IA')

export const encryptionField = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('SSE-S3') }),
  z.strictObject({
    type: z.literal('SSE-KMS'),
    keyId: z.string().regex(/^[\w:/.@-]{1,2048}$/, 'is not the id or ARN of a key'),
  }),
])
