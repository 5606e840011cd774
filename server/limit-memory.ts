import { sql } from 'drizzle-orm'
import { rows } from '../lib/platform/db/database.ts'
import { seconds } from '../lib/platform/kernel/clock.ts'
import type { Sweep } from '../lib/platform/sweeps.ts'
import type { UploadContext } from '../lib/uploads/upload-context.ts'

/**
 * Every few seconds, each process that handles uploads reads which workspaces the operator has limited to a share of
 * its memory. There are only a few such workspaces, and a partial index contains only those.
 */
export function memoryLimitSweep({ db, budget }: Pick<UploadContext, 'db' | 'budget'>): Sweep {
  return {
    name: 'memory limits',
    everyMs: seconds(5),
    routine: true,
    async run() {
      const limited = await rows<{ id: string; percent: number }>(
        db,
        sql`select id, memory_share_percent as percent from workspaces where memory_share_percent is not null`,
      )
      budget.limitWorkspaces(new Map(limited.map(({ id, percent }) => [id, percent])))
      return 0
    },
  }
}
