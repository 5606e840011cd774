import { z } from 'zod'
import type { dataStores } from '#drizzle/schema/index.ts'
import { subjectOf } from '../../identity/issuer/statements.ts'
import { nameField, toAnswer } from '../../platform/kernel/parse-input.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { encryptionField, storageClassField } from '../object-fields.ts'
import { keyPrefixField } from '../pipes/key-template.ts'
import { showCredentials } from './credentials.ts'
import { credentialsFields, federationAnswer } from './credentials-fields.ts'

export const PROVIDERS = [
  ...(['aws', 'r2', 'b2', 'wasabi', 'spaces', 'gcs', 'scaleway'] as const),
  ...(['azure', 'hetzner', 'ovh', 'oracle', 'alibaba', 'minio', 'other'] as const),
] as const

const bucketField = z
  .string()
  // Checked before any regular expression, since those take quadratic time on long text.
  .max(223, { message: 'must have at most 223 characters', abort: true })
  .refine((text) => !text.includes('://') && !/^[^/]+\.[^/]+\//.test(text), {
    message: 'is an address; enter only the bucket name here, and the address as the endpoint',
    abort: true,
  })
  .refine((text) => !text.includes('/'), {
    message: 'contains a /; enter only the bucket name here, and the part after the / as the prefix',
    abort: true,
  })
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{1,221}[A-Za-z0-9]$/, 'is not a valid bucket name')
  .refine((text) => !text.endsWith('--x-s3'), {
    message:
      'is a directory bucket (S3 Express One Zone), which uses sessions instead of keys; use a general purpose bucket',
  })

const place = {
  name: nameField,
  provider: z.enum(PROVIDERS, `must be one of ${PROVIDERS.join(', ')}`),
  /** If omitted, the endpoint comes from the provider's preset, if the preset has one. */
  endpoint: z.string().max(512, 'must have at most 512 characters').optional(),
  region: z.string().max(64, 'must have at most 64 characters').optional(),
  bucket: bucketField,
  prefix: keyPrefixField.optional(),
  forcePathStyle: z.boolean().optional(),
  storageClass: storageClassField.nullable().optional(),
  encryption: encryptionField.nullable().optional(),
}

export const dataStoreInput = z.strictObject({ ...place, ...credentialsFields })
export type DataStoreInput = z.output<typeof dataStoreInput>

/** Omitted credentials stay unchanged. */
export const dataStoreChanges = dataStoreInput.partial()
export type DataStoreChanges = z.output<typeof dataStoreChanges>

const bucketCheckAnswer = z.object({
  checkedAt: z.iso.datetime(),
  ok: z.boolean(),
  operations: z.array(z.object({ name: z.string(), ok: z.boolean(), message: z.string() })),
  policy: z.string().optional(),
  lifecycleRule: z.string().optional(),
})

export const dataStoreAnswer = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  provider: z.enum(PROVIDERS),
  endpoint: z.string(),
  region: z.string(),
  bucket: z.string(),
  prefix: z.string(),
  forcePathStyle: z.boolean(),
  accessKeyId: z.string(),
  serviceAccount: z.string().nullable(),
  sas: z
    .strictObject({ permissions: z.string().nullable(), expiresAt: z.iso.datetime().nullable() })
    .nullable(),
  federation: federationAnswer.nullable(),
  assumedRole: z.string().nullable(),
  /** By which clouds recognize the Data Store, if they trust this server. The subject is also its external ID. */
  identity: z.strictObject({ issuer: z.string(), subject: z.string() }),
  storageClass: z.string().nullable(),
  encryption: encryptionField.nullable(),
  check: bucketCheckAnswer.nullable(),
  createdAt: z.iso.datetime(),
})
export type DataStore = z.output<typeof dataStoreAnswer>

export function toDataStore(
  row: typeof dataStores.$inferSelect,
  { vault, config }: Pick<Runtime, 'vault' | 'config'>,
): DataStore {
  const identity = { issuer: config.baseUrl, subject: subjectOf(row) }
  return toAnswer(dataStoreAnswer, { ...row, ...showCredentials(vault, row), identity })
}
