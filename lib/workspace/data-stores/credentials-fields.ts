import { createPrivateKey } from 'node:crypto'
import { z } from 'zod'
import { readSas } from '../../buckets/azure/sas.ts'
import type { ServiceAccountKey } from '../../buckets/temporary/service-account.ts'

/** The fields of a request for each kind of credentials, in the form in which the provider shows them. */

const noStraySpace = (text: string) => text === text.trim() && !/\s/.test(text)

const keyField = z
  .string()
  .min(1, 'must not be empty')
  .max(512, 'must have at most 512 characters')
  .refine((text) => !text.startsWith('{'), {
    message: 'looks like a key file; the key file of a service account belongs in serviceAccountKey',
    abort: true,
  })
  .refine(noStraySpace, 'contains white space, perhaps from copying; keys have none')

const MAX_RSA_BITS = 4096

const keyFile = z.object({
  type: z.literal('service_account'),
  client_email: z.string().min(1).max(256),
  private_key_id: z.string().min(1).max(256),
  private_key: z.string().refine(isRsaKey),
  token_uri: z.url({ protocol: /^https?$/ }).max(512),
})

function isRsaKey(pem: string): boolean {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(pem)
    return asymmetricKeyType === 'rsa' && asymmetricKeyDetails!.modulusLength! <= MAX_RSA_BITS
  } catch {
    return false
  }
}

const serviceAccountField = z
  .string()
  .max(16_384, 'must have at most 16384 characters')
  .transform((text, context): ServiceAccountKey => {
    const { data, error } = keyFile.safeParse(readJson(text))
    if (data)
      return {
        email: data.client_email,
        keyId: data.private_key_id,
        privateKey: data.private_key,
        tokenUrl: data.token_uri,
      }
    const [field] = error.issues[0]!.path
    const message = field ? `has no valid ${String(field)}` : 'is not a key file'
    context.addIssue(`${message}; use the entire key file of a service account, as Google Cloud created it`)
    return z.NEVER
  })

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const storageAccountKeyField = z
  .string()
  .regex(
    /^[A-Za-z0-9+/]{86}==$/,
    "is not a storage account's key, which has 88 characters; of a connection string, use only what follows AccountKey=",
  )

const sasTokenField = z
  .string()
  .max(2048, 'must have at most 2048 characters')
  .refine(noStraySpace, 'contains white space, perhaps from copying; a SAS has none')
  .transform((text, context): string => {
    const read = readSas(text)
    if ('sasToken' in read) return read.sasToken
    context.addIssue(read.problem)
    return z.NEVER
  })

/** At MinIO, a role's ARN contains the region of the server, if it has one. */
const ROLE = /^arn:[a-z0-9-]*:iam:[\w-]*:[A-Za-z0-9]*:role\/[\w+=,.@/-]+$/
const roleField = z
  .string()
  .max(2048, 'must have at most 2048 characters')
  .refine((arn) => ROLE.test(arn), "is not a role's ARN, such as arn:aws:iam::123456789012:role/sluice")

/** Those of one cloud: the role for AWS, both ids for Azure, and the provider for Google. */
const federationField = z.strictObject({
  role: roleField.optional(),
  tenantId: z.guid('is not the id of a tenant (directory)').optional(),
  clientId: z.guid('is not the client id of an application').optional(),
  identityProvider: z
    .string()
    .regex(
      /^projects\/\d{1,20}\/locations\/global\/workloadIdentityPools\/[a-z0-9-]{4,32}\/providers\/[a-z0-9-]{4,32}$/,
      'is not the name of a provider, such as projects/123456789012/locations/global/workloadIdentityPools/sluice/providers/sluice',
    )
    .optional(),
  serviceAccount: z
    .string()
    .max(256)
    .regex(/^[a-z0-9-]+@[a-z0-9.-]+$/, 'is not the email address of a service account')
    .optional(),
})
export type GivenFederation = z.output<typeof federationField>

/** Either the first two, or one of the others. */
export const credentialsFields = {
  accessKeyId: keyField.optional(),
  secretAccessKey: keyField.optional(),
  serviceAccountKey: serviceAccountField.optional(),
  storageAccountKey: storageAccountKeyField.optional(),
  sasToken: sasTokenField.optional(),
  federation: federationField.optional(),
  assumedRole: roleField.optional(),
}

/** What may be shown of it is all of it. */
export const federationAnswer = federationField

export type GivenCredentials = z.output<z.ZodObject<typeof credentialsFields>>
