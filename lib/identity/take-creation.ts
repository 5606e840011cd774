import { takeFromLimit } from '../platform/rate-limits.ts'
import type { CoreRuntime } from '../platform/runtime.ts'

/** A workspace may have any number of these objects; only the rate at which it creates them is limited. */
const PER_WORKSPACE = { burst: 1000, refillMs: 10_000 }

export async function takeCreation(
  runtime: CoreRuntime,
  { workspaceId }: { workspaceId: string },
  what: 'Pipes' | 'Senders' | 'Data Stores' | 'account keys',
): Promise<void> {
  await takeFromLimit(runtime, `create:${what}:${workspaceId}`, PER_WORKSPACE)
}
