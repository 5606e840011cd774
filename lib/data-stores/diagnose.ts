import type { BucketCheck } from '#drizzle/schema/index.ts'
import type { Probe, ProbedOperation } from '../buckets/probe-bucket.ts'
import type { DataStoreRow } from './find-data-store.ts'
import { leastPolicy, lifecycleRule } from './policy.ts'

type Place = Pick<DataStoreRow, 'provider' | 'bucket' | 'prefix' | 'encryption'>

/** What more the optional permissions would make possible. */
const WITHOUT: Record<string, string> = {
  AbortMultipartUpload:
    'Not needed. With it, Sluice itself clears uploads that never finished; else use the lifecycle rule.',
  GetObject: 'Not needed. With it and DeleteObject, uploads can be concatenated.',
  DeleteObject: 'Not needed. This check left one empty object, .sluice-check, since it may not delete it.',
}

/** The result of a probe, in words for its customer. */
export function diagnose(probe: Probe, place: Place, nowMs: number): BucketCheck {
  const needed = probe.operations.filter((operation) => operation.needed)
  const works = needed.length === NEEDED_OPERATIONS && needed.every(({ ok }) => ok)
  return {
    checkedAt: new Date(nowMs).toISOString(),
    ok: works,
    operations: probe.operations.map((operation) => ({
      name: operation.name,
      ok: operation.ok,
      message: message(operation, works),
    })),
    policy: leastPolicy(place),
    ...(works && !probe.mayAbort && { lifecycleRule: lifecycleRule(place) }),
  }
}

const NEEDED_OPERATIONS = 4

function message({ name, ok, message: said }: ProbedOperation, works: boolean): string {
  const optional = WITHOUT[name]
  return !ok && works && optional ? `${optional} ${said}` : said
}
