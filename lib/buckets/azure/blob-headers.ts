import type { BucketPlace, Target } from '../bucket-place.ts'
import { formOf, metadataHeaders } from '../header-values.ts'
import { TAG_CHARACTERS, TIERS } from './blob-settings.ts'

const NOT_IN_TAGS = new RegExp(`[^${TAG_CHARACTERS}]`, 'gu')

/** The headers that describe a new blob, for Put Blob and Put Block List. */
export function blobHeaders(place: BucketPlace, { contentType, object }: Target): Record<string, string> {
  const { metadata, cacheControl, contentDisposition, tags } = object ?? {}
  const tier = object?.storageClass ?? place.storageClass
  return {
    'x-ms-blob-content-type': contentType,
    ...(tier && { 'x-ms-access-tier': TIERS[tier] ?? tier }),
    ...(cacheControl && { 'x-ms-blob-cache-control': cacheControl }),
    ...(contentDisposition && { 'x-ms-blob-content-disposition': contentDisposition }),
    ...(tags && { 'x-ms-tags': formOf(allowed(tags)) }),
    ...(metadata && metadataHeaders('x-ms-meta-', metadata)),
  }
}

/** The tags with _ for each character that AWS allows in values and Azure does not. */
const allowed = (tags: Record<string, string>) =>
  Object.fromEntries(Object.entries(tags).map(([name, value]) => [name, value.replace(NOT_IN_TAGS, '_')]))
