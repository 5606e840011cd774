import { hash } from 'node:crypto'
import type { ProviderName } from '#drizzle/schema/index.ts'
import { showSas } from '../../buckets/azure/sas.ts'
import type { Credentials } from '../../buckets/open-bucket.ts'
import type { AccessKey } from '../../buckets/s3/sign-request.ts'
import { type FieldError, invalidRequest } from '../../platform/kernel/errors.ts'
import type { Place, Vault } from '../../platform/vault.ts'
import { credentialsFields, type GivenCredentials } from './credentials-fields.ts'
import { assertFits, fitsProvider, nameOf } from './federation.ts'

/**
 * A Data Store's credentials, in two columns, both sealed: what may be shown again, and what may not. For an access key,
 * they contain its id and its secret, and JSON for all other kinds.
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
  const [shown, hidden] = halvesOf(credentials)
  return {
    accessKeyIdEncrypted: seal(shown, accessKeyPlace(id)),
    secretAccessKeyEncrypted: seal(hidden, secretKeyPlace(id)),
  }
}

function halvesOf(credentials: Credentials): [shown: string, hidden: string] {
  if ('accessKeyId' in credentials) return [credentials.accessKeyId, credentials.secretAccessKey]
  if ('email' in credentials) {
    const { email, keyId, ...hidden } = credentials
    return [JSON.stringify({ email, keyId }), JSON.stringify(hidden)]
  }
  if ('assumedRole' in credentials) {
    const { assumedRole } = credentials
    return [JSON.stringify({ keyId: assumedRole, assumedRole }), JSON.stringify({ assumedRole })]
  }
  if ('federation' in credentials) {
    const { federation } = credentials
    return [JSON.stringify({ keyId: nameOf(federation), federation }), JSON.stringify({ federation })]
  }
  const shown =
    'sasToken' in credentials
      ? { keyId: fingerprintOf(credentials.sasToken), sas: showSas(credentials.sasToken) }
      : { keyId: fingerprintOf(credentials.storageAccountKey) }
  return [JSON.stringify(shown), JSON.stringify(credentials)]
}

/** Stands in for the id of credentials that have none, so that others can be told apart from them. */
const fingerprintOf = (secret: string): string => hash('sha256', secret).slice(0, 16)

export function openCredentials(vault: Vault, row: Sealed): Credentials {
  const shown = vault.open(row.accessKeyIdEncrypted, accessKeyPlace(row.id))
  const hidden = vault.open(row.secretAccessKeyEncrypted, secretKeyPlace(row.id))
  if (!isJson(shown)) return { accessKeyId: shown, secretAccessKey: hidden }
  const { email, keyId } = JSON.parse(shown)
  return { ...(email && { email, keyId }), ...JSON.parse(hidden) }
}

export function showCredentials(vault: Vault, row: Sealed) {
  const shown = vault.open(row.accessKeyIdEncrypted, accessKeyPlace(row.id))
  if (!isJson(shown))
    return { accessKeyId: shown, serviceAccount: null, sas: null, federation: null, assumedRole: null }
  const { keyId, email, sas, federation, assumedRole } = JSON.parse(shown)
  return {
    accessKeyId: keyId,
    serviceAccount: email ?? null,
    sas: sas ?? null,
    federation: federation ?? null,
    assumedRole: assumedRole ?? null,
  }
}

const isJson = (text: string): boolean => text.startsWith('{')

type Field = keyof GivenCredentials

/** The kinds of credentials that each provider accepts, by the first field of each; all others accept access keys. */
const ACCEPTS: Partial<Record<ProviderName, readonly Field[]>> = {
  aws: ['accessKeyId', 'federation', 'assumedRole'],
  gcs: ['accessKeyId', 'serviceAccountKey', 'federation'],
  azure: ['sasToken', 'storageAccountKey', 'federation'],
  minio: ['accessKeyId', 'federation', 'assumedRole'],
  other: ['accessKeyId', 'federation', 'assumedRole'],
}
const ACCESS_KEY: readonly Field[] = ['accessKeyId']

/** The credentials after a request that contains these fields. `before` is undefined for a new Data Store. */
export function chooseCredentials(
  provider: ProviderName,
  given: GivenCredentials,
  before?: Credentials,
): Credentials {
  const accepted = ACCEPTS[provider] ?? ACCESS_KEY
  const {
    accessKeyId,
    secretAccessKey,
    serviceAccountKey,
    storageAccountKey,
    sasToken,
    federation,
    assumedRole,
  } = given
  const kinds: Partial<Record<Field, Credentials | Partial<AccessKey>>> = {
    ...((accessKeyId ?? secretAccessKey) !== undefined && { accessKeyId: { accessKeyId, secretAccessKey } }),
    ...(serviceAccountKey && { serviceAccountKey }),
    ...(storageAccountKey && { storageAccountKey: { storageAccountKey } }),
    ...(sasToken && { sasToken: { sasToken } }),
    ...(assumedRole && { assumedRole: { assumedRole } }),
    ...(federation && { federation: { federation } as Credentials }),
  }
  const [kind, other] = (Object.keys(kinds) as Field[]).reverse()
  if (kind && other) throw fault(kind, `cannot be combined with ${other}`)
  if (kind && !accepted.includes(kind)) throw notAccepted(kind, provider, accepted)
  const isKept = before && accepted.includes(kindOf(before)) && fitsProvider(provider, before)
  if (kind === 'federation') assertFits(provider, federation!)
  const kept = isKept ? before : undefined
  const chosen = kind ? kinds[kind]! : kept
  if (!chosen && provider === 'azure')
    throw fault('sasToken', 'is required, unless there is a storageAccountKey')
  return chosen && kindOf(chosen as Credentials) !== 'accessKeyId'
    ? (chosen as Credentials)
    : completePair(chosen as Partial<AccessKey> | undefined, kept)
}

/** `chosen` may contain only one half of a new access key. */
function completePair(chosen: Partial<AccessKey> = {}, kept?: Credentials): AccessKey {
  const before: Partial<AccessKey> = kept && 'accessKeyId' in kept ? kept : {}
  const pair = {
    accessKeyId: chosen.accessKeyId ?? before.accessKeyId,
    secretAccessKey: chosen.secretAccessKey ?? before.secretAccessKey,
  }
  const missing = (['accessKeyId', 'secretAccessKey'] as const).filter((name) => pair[name] === undefined)
  if (missing.length > 0)
    throw invalidRequest(missing.map((field): FieldError => ({ field, message: 'is required' })))
  return pair as AccessKey
}

function kindOf(credentials: Credentials): Field {
  if ('email' in credentials) return 'serviceAccountKey'
  if ('federation' in credentials) return 'federation'
  if ('assumedRole' in credentials) return 'assumedRole'
  if ('sasToken' in credentials) return 'sasToken'
  return 'storageAccountKey' in credentials ? 'storageAccountKey' : 'accessKeyId'
}

function notAccepted(kind: Field, provider: ProviderName, accepted: readonly Field[]) {
  const others = Object.entries(ACCEPTS).filter(([, kinds]) => kinds.includes(kind) && kind !== 'accessKeyId')
  const only = others.map(([name]) => name).join(', ')
  if (only) return fault(kind, `is only possible with the provider ${only}`)
  return fault(kind, `is not possible with the provider ${provider}; use ${accepted.join(' or ')}`)
}

/** The other fields of a request. */
export function withoutCredentials<Of extends GivenCredentials>(fields: Of): Omit<Of, Field> {
  const others = Object.entries(fields).filter(([name]) => !(name in credentialsFields))
  return Object.fromEntries(others) as Omit<Of, Field>
}

const fault = (field: string, message: string) => invalidRequest([{ field, message }])
