import { join } from 'node:path'
import type { Fault } from '#lib/local-bucket/faults.ts'
import type { BucketKey } from '#lib/local-bucket/grants.ts'
import { startLocalBucket } from '#lib/local-bucket/start.ts'

/** A bucket in a process of its own; its parent tells it what to do wrong. */
export type BucketOrder = { fault: Fault } | 'mend' | 'tell'
/** The keys of objects whose PutObject was never answered, or answered with an error. */
export type BucketReport = { unheard: string[] }
export type BucketOptions = { directory: string; buckets: string[]; keys: BucketKey[] }

if (import.meta.main) {
  const options: BucketOptions = JSON.parse(process.argv[2]!)
  const { faults, traffic, port } = await startLocalBucket({ region: 'auto', ...options })
  const unheard = new Set<string>()
  traffic.listen(({ operation, bucket, key, state, code }) => {
    const lost = state === 'cut' || (state === 'answered' && code !== undefined)
    if (operation === 'PutObject' && lost) unheard.add(join(bucket, key))
  })
  process.on('message', (order: BucketOrder) => {
    if (order === 'tell') process.send!({ unheard: [...unheard] } satisfies BucketReport)
    else if (order === 'mend') faults.clear()
    else faults.add(order.fault)
  })
  process.on('disconnect', () => process.exit(0))
  process.send!({ port })
}
