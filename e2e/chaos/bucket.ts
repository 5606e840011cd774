import type { Fault } from '#lib/local-bucket/faults.ts'
import type { BucketKey } from '#lib/local-bucket/grants.ts'
import { startLocalBucket } from '#lib/local-bucket/start.ts'

/** A bucket in a process of its own; its parent tells it what to do wrong. */
export type BucketOrder = { fault: Fault } | 'mend'
export type BucketOptions = { directory: string; buckets: string[]; keys: BucketKey[] }

if (import.meta.main) {
  const options: BucketOptions = JSON.parse(process.argv[2]!)
  const { faults, port } = await startLocalBucket({ region: 'auto', ...options })
  process.on('message', (order: BucketOrder) => (order === 'mend' ? faults.clear() : faults.add(order.fault)))
  process.on('disconnect', () => process.exit(0))
  process.send!({ port })
}
