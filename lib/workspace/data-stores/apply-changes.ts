import type { DataStoreChanges } from './data-store.ts'
import type { DataStoreRow } from './find-data-store.ts'
import { resolvePlace, usualEndpoint } from './resolve-place.ts'

/** The Data Store as it would be. With another provider, what is not given comes from its preset. */
export function applyChanges(before: DataStoreRow, changes: DataStoreChanges, allowedPrivateHosts: string[]) {
  const { accessKeyId: _, secretAccessKey: __, ...fields } = changes
  const moves = fields.provider !== undefined && fields.provider !== before.provider
  const given = moves
    ? {}
    : { endpoint: before.endpoint, region: before.region, forcePathStyle: before.forcePathStyle }
  // Another region is at another address, unless the address is the customer's own.
  if (!moves && fields.region && fields.region !== before.region && fields.endpoint === undefined)
    given.endpoint = followRegion(before, fields.region)
  const place = resolvePlace(
    { provider: before.provider, bucket: before.bucket, ...given, ...fields },
    allowedPrivateHosts,
  )
  const after = { ...before, ...withoutUndefined(fields), ...place }
  return { ...after, found: isElsewhere(before, after) ? null : before.found }
}

/** Where the bucket is cannot change under an upload; its name, prefix and keys can. */
const PLACE = ['provider', 'endpoint', 'region', 'bucket', 'forcePathStyle'] as const

export function isElsewhere(
  before: Pick<DataStoreRow, (typeof PLACE)[number]>,
  after: Pick<DataStoreRow, (typeof PLACE)[number]>,
): boolean {
  return PLACE.some((field) => after[field] !== before[field])
}

function followRegion({ provider, endpoint, region }: DataStoreRow, next: string): string {
  if (endpoint === usualEndpoint(provider, region)) return usualEndpoint(provider, next)!
  return endpoint.includes(region) ? endpoint.replace(region, next) : endpoint
}

function withoutUndefined<T extends object>(value: T): { [K in keyof T]-?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as never
}
