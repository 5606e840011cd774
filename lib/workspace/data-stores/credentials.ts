import { createPrivateKey } from 'node:crypto'
import { z } from 'zod'
import type { ProviderName } from '#drizzle/schema/index.ts'
import type { Credentials } from '../../buckets/open-bucket.ts'
import type { AccessKey } from '../../buckets/s3/sign-request.ts'
import type { ServiceAccountKey } from '../../buckets/service-account.ts'
import { type FieldError, invalidRequest } from '../../platform/kernel/errors.ts'
import type { Place, Vault } from '../../platform/vault.ts'

/**
 * A Data Store's credentials: an access key, or a Google service account's key. Two columns have them, both sealed: what
 * may be shown again, and what may not. For a service account's key, each of them contains JSON.
 */
type Sealed = { id: string; accessKeyIdEncrypted: string; secretAccessKeyEncrypted: string }

/** The columns that a Data Store's two sealed keys are bound to. */
const placeIn =
  (column: string) =>
  (id: string): Place => ({ column: `data_stores.${column}`, id, row: `data_store:${id}` })
export const accessKeyPlace = placeIn('access_key_id_encrypted')
export const secretKeyPlace = placeIn('secret_access_key_encrypted')

export function sealCredentials(
  seal: (text: string, place: Place) => string,
  id: string,
  credentials: Credentials,
): Omit<Sealed, 'id'> {
  const [shown, hidden] = isAccessKey(credentials)
    ? [credentials.accessKeyId, credentials.secretAccessKey]
    : split(credentials).map((half) => JSON.stringify(half))
  return {
    accessKeyIdEncrypted: seal(shown!, accessKeyPlace(id)),
    secretAccessKeyEncrypted: seal(hidden!, secretKeyPlace(id)),
  }
}

const split = ({ email, keyId, privateKey, tokenUrl }: ServiceAccountKey) => [
  { email, keyId },
  { privateKey, tokenUrl },
]

export function openCredentials(vault: Vault, row: Sealed): Credentials {
  const shown = vault.open(row.accessKeyIdEncrypted, accessKeyPlace(row.id))
  const hidden = vault.open(row.secretAccessKeyEncrypted, secretKeyPlace(row.id))
  if (isJson(shown)) return { ...JSON.parse(shown), ...JSON.parse(hidden) }
  return { accessKeyId: shown, secretAccessKey: hidden }
}

export function showCredentials(vault: Vault, row: Sealed) {
  const shown = vault.open(row.accessKeyIdEncrypted, accessKeyPlace(row.id))
  if (!isJson(shown)) return { accessKeyId: shown, serviceAccount: null }
  const { email, keyId } = JSON.parse(shown) as ServiceAccountKey
  return { accessKeyId: keyId, serviceAccount: email }
}

const isJson = (text: string): boolean => text.startsWith('{')
const isAccessKey = (credentials: Credentials): credentials is AccessKey => 'accessKeyId' in credentials

const noStraySpace = (text: string) => text === text.trim() && !/\s/.test(text)

const keyField = z
  .string()
  .min(1, 'must not be empty')
  .max(512, 'must have at most 512 characters')
  .refine((text) => !isJson(text), {
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

/** The fields of a request; either the first two, or the last. */
export const credentialsFields = {
  accessKeyId: keyField.optional(),
  secretAccessKey: keyField.optional(),
  serviceAccountKey: serviceAccountField.optional(),
}

type Given = {
  accessKeyId?: string | undefined
  secretAccessKey?: string | undefined
  serviceAccountKey?: ServiceAccountKey | undefined
}

/** The credentials after a request that contains these fields. `before` is undefined for a new Data Store. */
export function chooseCredentials(provider: ProviderName, given: Given, before?: Credentials): Credentials {
  const { accessKeyId, secretAccessKey, serviceAccountKey } = given
  const isPair = accessKeyId !== undefined || secretAccessKey !== undefined
  if (serviceAccountKey && isPair)
    throw fault('serviceAccountKey', 'cannot be combined with accessKeyId and secretAccessKey')
  const chosen = serviceAccountKey ?? (isPair ? undefined : before)
  if (chosen && !isAccessKey(chosen) && provider !== 'gcs')
    throw serviceAccountKey
      ? fault('serviceAccountKey', 'is only possible with the provider gcs')
      : invalidRequest(['accessKeyId', 'secretAccessKey'].map(required))
  if (chosen) return chosen
  const kept = before && isAccessKey(before) ? before : undefined
  const pair = {
    accessKeyId: accessKeyId ?? kept?.accessKeyId,
    secretAccessKey: secretAccessKey ?? kept?.secretAccessKey,
  }
  const missing = (['accessKeyId', 'secretAccessKey'] as const).filter((name) => pair[name] === undefined)
  if (missing.length > 0) throw invalidRequest(missing.map(required))
  return pair as AccessKey
}

const required = (field: string): FieldError => ({ field, message: 'is required' })
const fault = (field: string, message: string) => invalidRequest([{ field, message }])
