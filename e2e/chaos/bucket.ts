import { join } from 'node:path'
import { within } from '#lib/platform/kernel/waits.ts'
import type { BucketKey } from '#packages/local-bucket/key-ring.ts'
import { startBucket } from '../../test/support/bucket.ts'
import type { Fault } from '../../test/support/bucket-faults.ts'
import { openHoldingProxy } from '../../test/support/http-proxies.ts'
import { type KeysReport, openCloud, type Trust } from './temporary-keys.ts'

/**
 * A bucket in its own process, whose failures the parent process controls. `hold` intercepts the next part, if one
 * arrives in time, reports it, and delivers it to the bucket after the given delay.
 */
export type BucketOrder = { fault: Fault } | { hold: { forMs: number } } | { trust: Trust } | 'mend' | 'tell'
/**
 * The keys whose PutObject (`unheard`) or CreateMultipartUpload (`unnamed`) got no response or an error, or whose
 * AbortMultipartUpload was refused (`unaborted`), after which nobody aborts the upload.
 */
export type BucketReport = {
  unheard: string[]
  unnamed: string[]
  unaborted: string[]
  temporaryKeys: KeysReport
}
export type BucketNews = { held: true } | { late: number[] } | BucketReport
export type BucketOptions = { directory: string; buckets: string[]; keys: BucketKey[] }

if (import.meta.main) {
  const options: BucketOptions = JSON.parse(process.argv[2]!)
  const { faults, traffic, port } = await startBucket({ region: 'auto', durable: false, ...options })
  const proxy = await openHoldingProxy(port)
  const cloud = await openCloud({ endpoint: proxy.url, region: 'auto', key: options.keys[0]! })
  const send = (news: BucketNews) => process.connected && process.send!(news)
  const hold = async (forMs: number) => {
    await within(
      forMs,
      proxy.holdParts(() => true),
    )
    proxy.holdParts(() => false)
    send({ held: true })
    setTimeout(() => void proxy.deliver().then((late) => send({ late })), forMs)
  }
  const [unheard, unnamed, unaborted] = [new Set<string>(), new Set<string>(), new Set<string>()]
  traffic.listen(({ operation, bucket, key, state, code }) => {
    const lost = state === 'cut' || (state === 'answered' && code !== undefined)
    if (operation === 'PutObject' && lost) unheard.add(join(bucket, key))
    if (operation === 'CreateMultipartUpload' && lost) unnamed.add(join(bucket, key))
    if (operation === 'AbortMultipartUpload' && code === 'AccessDenied') unaborted.add(join(bucket, key))
  })
  process.on('message', (order: BucketOrder) => {
    if (order === 'tell')
      send({
        unheard: [...unheard],
        unnamed: [...unnamed],
        unaborted: [...unaborted],
        temporaryKeys: cloud.report(),
      })
    else if (order === 'mend') faults.clear()
    else if ('trust' in order) Object.assign(cloud.trust, order.trust)
    else if ('hold' in order) void hold(order.hold.forMs)
    else faults.add(order.fault)
  })
  process.on('disconnect', () => process.exit(0))
  process.send!({ endpoint: proxy.url, cloudEndpoint: cloud.endpoint })
}
