import type { ObjectSettings, ProviderName } from '#drizzle/schema/index.ts'
import { capabilitiesOf } from '../../buckets/providers.ts'
import { type FieldError, invalidRequest } from '../../platform/kernel/errors.ts'
import { ENDPOINT_EXAMPLES, PRESETS } from './presets.ts'

type Given = {
  provider: ProviderName
  bucket: string
  prefix?: string | undefined
  endpoint?: string | undefined
  region?: string | undefined
  forcePathStyle?: boolean | undefined
  storageClass?: string | null | undefined
  encryption?: ObjectSettings['encryption'] | null | undefined
}
type Place = { endpoint: string; region: string; forcePathStyle: boolean }

/** Fills in the preset's values. Throws an error that lists all invalid fields. */
export function resolvePlace(given: Given, allowedPrivateHosts: string[]): Place {
  const preset = PRESETS[given.provider]
  const faults: FieldError[] = settingFaults(given)
  const region = regionOf(given, faults)
  if (given.provider === 'azure') faults.push(...azureFaults(given))
  const endpoint = (given.endpoint || usualEndpoint(given.provider, region))?.replace(/\/+$/, '')
  if (!endpoint) {
    faults.push({ field: 'endpoint', message: `is required, such as ${ENDPOINT_EXAMPLES[given.provider]}` })
  } else {
    faults.push(
      ...endpointFaults(endpoint, given, allowedPrivateHosts),
      ...otherRegion(given, endpoint, region),
    )
  }
  if (faults.length > 0) throw invalidRequest(faults)
  return { endpoint: endpoint!, region, forcePathStyle: given.forcePathStyle ?? preset.forcePathStyle }
}

/** The provider's own endpoint in this region. Undefined if customers enter the endpoint. */
export function usualEndpoint(provider: ProviderName, region: string): string | undefined {
  const endpoint = PRESETS[provider].endpoint?.replace('{region}', region)
  return provider === 'aws' ? endpoint?.replace('amazonaws.com', partitionOf(region).suffix) : endpoint
}

function settingFaults({ provider, storageClass, encryption }: Given): FieldError[] {
  const settings = { ...(storageClass && { storageClass }), ...(encryption && { encryption }) }
  const objection = capabilitiesOf(provider, null).objectionTo(settings)
  return objection ? [{ field: objection.setting, message: objection.message }] : []
}

/** Emulators have the account's name in the path, as in http://127.0.0.1:10000/devstoreaccount1. */
const AZURE_ACCOUNT = /^[a-z0-9]{3,24}$/
/** https://learn.microsoft.com/rest/api/storageservices/naming-and-referencing-containers--blobs--and-metadata */
const AZURE_CONTAINER = /^(?=.{3,63}$)[a-z0-9]+(-[a-z0-9]+)*$/

function azureFaults({ bucket, prefix = '', forcePathStyle = true }: Given): FieldError[] {
  const faults: FieldError[] = []
  if (!AZURE_CONTAINER.test(bucket))
    faults.push({
      field: 'bucket',
      message: 'is not a container name, which has 3 to 63 lower-case letters, digits and single hyphens',
    })
  if (prefix.includes('./'))
    faults.push({ field: 'prefix', message: 'must not contain ./, because Azure drops dots before a /' })
  if (!forcePathStyle)
    faults.push({ field: 'forcePathStyle', message: 'must be true: Azure has containers in the path only' })
  return faults
}

function regionOf(given: Given, faults: FieldError[]): string {
  const preset = PRESETS[given.provider]
  if ('fixed' in preset.region) {
    if (given.region && given.region !== preset.region.fixed) {
      faults.push({ field: 'region', message: `must be ${preset.region.fixed} for ${preset.label}` })
    }
    return preset.region.fixed
  }
  const region = given.region || (preset.endpoint ? '' : preset.region.example)
  if (!preset.region.pattern.test(region)) {
    const message = region ? `is not a region of ${preset.label}` : 'is required'
    faults.push({ field: 'region', message: `${message}; regions look like ${preset.region.example}` })
  }
  return region
}

function endpointFaults(
  endpoint: string,
  { provider, bucket }: Given,
  allowedPrivateHosts: string[],
): FieldError[] {
  const fault = (message: string) => [{ field: 'endpoint', message }]
  if (!URL.canParse(endpoint)) return fault('must be an address such as https://s3.example.com')
  const url = new URL(endpoint)
  if (url.username || url.password) return fault('must not contain a user name or password')
  const isAccount = provider === 'azure' && AZURE_ACCOUNT.test(url.pathname.slice(1))
  if ((url.pathname !== '/' && !isAccount) || url.search || url.hash)
    return fault('must end after the host; the bucket has its own field')
  if (url.hostname.startsWith(`${bucket}.`))
    return fault(`contains the bucket; leave out “${bucket}.”, since Sluice adds it where needed`)
  if (url.protocol === 'https:') return []
  if (url.protocol !== 'http:') return fault('must be an https address')
  const host = `${url.hostname}:${url.port || '80'}`
  if (allowedPrivateHosts.includes('*') || allowedPrivateHosts.includes(host)) return []
  return fault(
    `is plain http, so keys and files would be sent unencrypted; use https, or list ${host} in ALLOWED_PRIVATE_HOSTS if it is in your own network`,
  )
}

/** If the endpoint is the provider's own and contains a region, that region must be the given one. */
function otherRegion({ provider }: Given, endpoint: string, region: string): FieldError[] {
  if (!URL.canParse(endpoint)) return []
  const { hostname } = new URL(endpoint)
  const named = provider === 'aws' ? regionOfHost(hostname) : regionIn(hostname, PRESETS[provider].endpoint)
  if (!named || named === region) return []
  return [{ field: 'region', message: `is ${region}, but the endpoint is in ${named}` }]
}

/** The part of a host name at the position of `{region}`. */
function regionIn(hostname: string, form: string | null): string | undefined {
  if (!form?.includes('{region}')) return undefined
  const [before, after] = new URL(form.replace('{region}', 'region-here')).hostname.split('region-here')
  if (!hostname.startsWith(before!) || !hostname.endsWith(after!)) return undefined
  return hostname.slice(before!.length, hostname.length - after!.length)
}

/** AWS consists of several clouds that share only their API: each has its own ARNs and hosts. */
type Partition = { name: string; suffix: string }

const PARTITIONS: readonly [prefix: string, Partition][] = [
  ['cn-', { name: 'aws-cn', suffix: 'amazonaws.com.cn' }],
  ['us-gov-', { name: 'aws-us-gov', suffix: 'amazonaws.com' }],
  ['eusc-', { name: 'aws-eusc', suffix: 'amazonaws.eu' }],
]

export function partitionOf(region: string): Partition {
  const found = PARTITIONS.find(([prefix]) => region.startsWith(prefix))
  return found?.[1] ?? { name: 'aws', suffix: 'amazonaws.com' }
}

const HOST =
  /^s3(?:-fips)?(?:\.dualstack)?[.-]([a-z]{2,4}(?:-[a-z]+)+-\d{1,2})\.amazonaws\.(?:com|com\.cn|eu)$/

/**
 * The region in an S3 host name: standard, dual-stack, FIPS or legacy. Global and accelerated host names contain none.
 */
function regionOfHost(hostname: string): string | undefined {
  return HOST.exec(hostname)?.[1]
}
