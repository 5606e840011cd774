import { type SQL, sql } from 'drizzle-orm'
import type { FoundCapabilities, ProviderName } from '#drizzle/schema/index.ts'

/** A Data Store's configuration, with its credentials still sealed. */
export type SealedDataStore = {
  id: string
  workspaceId: string
  /** Changes whenever the row changes, so that caches never return outdated values. */
  version: string
  provider: ProviderName
  endpoint: string
  region: string
  bucket: string
  prefix: string
  forcePathStyle: boolean
  accessKeyIdEncrypted: string
  secretAccessKeyEncrypted: string
  storageClass: string | null
  encryption: { type: 'SSE-S3' } | { type: 'SSE-KMS'; keyId: string } | null
  mayAbort: boolean
  mayRead: boolean
  mayDelete: boolean
  found: FoundCapabilities | null
  state: DataStoreState
}

/**
 * `ready` once a check or an upload has succeeded there; `off` if it was turned off when its account changed hands. Only
 * a `ready` Data Store accepts uploads.
 */
export type DataStoreState = 'ready' | 'unchecked' | 'off'

/** The column for queries that need the bucket; `ds` is the `data_stores` row. */
export function sealedDataStoreColumn(): SQL {
  return sql`json_build_object('id', ds.id, 'workspaceId', ds.workspace_id, 'version', ds.updated_at,
      'provider', ds.provider, 'endpoint', ds.endpoint, 'region', ds.region, 'bucket', ds.bucket, 'prefix', ds.prefix, 'forcePathStyle', ds.force_path_style,
      'accessKeyIdEncrypted', ds.access_key_id_encrypted,
      'secretAccessKeyEncrypted', ds.secret_access_key_encrypted, 'storageClass', ds.storage_class,
      'encryption', ds.encryption, 'mayAbort', ds.may_abort, 'mayRead', ds.may_read, 'mayDelete', ds.may_delete,
      'found', ds.found, 'state', ${dataStoreStateColumn()})`
}

/** As above, `ds` is the `data_stores` row. */
export function dataStoreStateColumn(): SQL {
  return sql`case when ds.turned_off_at is not null then 'off' when ${isReady} then 'ready' else 'unchecked' end`
}

/** The files are only searched for Data Stores without `ready_at`, which may be older than that column. */
const isReady = sql`(ds.ready_at is not null or coalesce((ds.check->>'ok')::boolean, false) or exists (
      select from file_destinations rd join files rf on rf.id = rd.file_id
      where rd.data_store_id = ds.id and rd.status = 'transferred' and rf.finished_at > ds.updated_at))`
