import type { ProviderName } from '#drizzle/schema/index.ts'
import { encodePath } from './encode-address.ts'

type Place = { provider: ProviderName; endpoint: string; region: string; bucket: string; key: string }
export type ObjectInConsole = { console: string; href: string }

/**
 * Where people who can sign in at the provider see an object in its console. Undefined for providers whose console has
 * no lasting address for an object, and for parts of AWS with a console of their own.
 */
export function objectInConsole(place: Place): ObjectInConsole | undefined {
  const { provider, endpoint, region } = place
  const { hostname } = new URL(endpoint)
  const [bucket, key] = [encodePath(place.bucket), encodeURIComponent(place.key)]
  if (provider === 'aws') {
    const isOther = !hostname.endsWith('.amazonaws.com') || region.startsWith('us-gov-')
    if (isOther || bucket.endsWith('-s3alias')) return undefined
    const href = `https://${region}.console.aws.amazon.com/s3/object/${bucket}?region=${region}&prefix=${key}`
    return { console: 'AWS console', href }
  }
  if (provider === 'gcs') {
    const href = `https://console.cloud.google.com/storage/browser/_details/${bucket}/${encodePath(place.key)}`
    return { console: 'Google Cloud console', href }
  }
  // The endpoint of a bucket with a jurisdiction has more labels, and its page another address.
  const account = /^(\w+)\.r2\.cloudflarestorage\.com$/.exec(hostname)?.[1]
  if (provider !== 'r2' || !account) return undefined
  const href = `https://dash.cloudflare.com/${account}/r2/default/buckets/${bucket}/objects/${key}/details`
  return { console: 'Cloudflare dashboard', href }
}
