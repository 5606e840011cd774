import type { BucketCheck } from '#drizzle/schema/index.ts'
import type { Probe, ProbedOperation } from '../../buckets/probe-bucket.ts'
import { PROBE_FOLDER } from '../../buckets/probe-operations.ts'
import type { DataStoreRow } from './find-data-store.ts'
import { leastPolicy, lifecycleRules } from './policy.ts'

type Place = Pick<DataStoreRow, 'provider' | 'region' | 'bucket' | 'prefix' | 'encryption'>

/** What more the optional permissions would make possible. */
const WITHOUT: Record<string, string> = {
  AbortMultipartUpload:
    'Not needed. With it, Sluice itself clears uploads that never finished; else use the lifecycle rule.',
  GetObject: 'Not needed. With it and DeleteObject, uploads can be concatenated.',
  UploadPartCopy: 'Not needed. Without it, uploads cannot be concatenated.',
  DeleteObject: `Not needed. This check left its small objects in ${PROBE_FOLDER}/, since it may not delete them.`,
}

/** The result of a probe, in words for its customer. */
export function diagnose(probe: Probe, place: Place, nowMs: number): BucketCheck {
  const needed = probe.operations.filter((operation) => operation.needed)
  const works = needed.length === NEEDED_OPERATIONS && needed.every(({ ok }) => ok)
  const rules = works ? lifecycleRules(place, probe) : undefined
  return {
    checkedAt: new Date(nowMs).toISOString(),
    ok: works,
    operations: probe.operations.map((operation) => ({
      name: operation.name,
      ok: operation.ok,
      message: message(operation, works) + remark(operation, probe),
    })),
    policy: leastPolicy(place),
    ...(rules && { lifecycleRule: rules }),
  }
}

const NEEDED_OPERATIONS = 4

function message({ name, ok, message: said }: ProbedOperation, works: boolean): string {
  const optional = WITHOUT[name]
  return !ok && works && optional ? `${optional} ${said}` : said
}

/** How the bucket wants to be asked, where that is not as usual. */
function remark({ name, ok }: ProbedOperation, { found }: Probe): string {
  if (!ok) return ''
  if (name === 'PutObject' && found.bodyChecksum === 'md5')
    return ' The bucket takes no CRC32 and asks for Content-MD5, which costs some speed.'
  if (name === 'PutObject' && found.bodyChecksum === 'crc32') return ' The bucket asks for a checksum.'
  if (name === 'PutObject' && found.bodyChecksum === null) return ' The bucket takes no checksum.'
  if (name === 'CompleteMultipartUpload' && found.fullObjectCrc32 === false)
    return ' The bucket checks each part, and not the whole object.'
  return ''
}
