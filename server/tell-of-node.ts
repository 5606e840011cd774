import { sql } from 'drizzle-orm'
import { days, seconds } from '../lib/platform/kernel/clock.ts'
import { uuidv7 } from '../lib/platform/kernel/ids.ts'
import type { Runtime } from '../lib/platform/runtime.ts'
import { type Sweep, startSweeps } from '../lib/platform/sweeps.ts'
import manifest from '../package.json' with { type: 'json' }
import type { Part } from './stop-on-signal.ts'

type NodeRuntime = Pick<Runtime, 'db' | 'clock' | 'config' | 'metrics'>

/** Tells the console that this process is running, until it is stopped. */
export function tellOfNode(runtime: NodeRuntime & Pick<Runtime, 'log'>): Part {
  const sweep = nodeSweep(runtime)
  const sweeps = startSweeps([sweep], runtime.log)
  return {
    async stop() {
      await sweeps.stop()
      await sweep.end()
    },
  }
}

/**
 * Each process rewrites its own row every few seconds, so that the console shows which processes are running. It deletes
 * the row when it stops; the rows of dead processes are deleted after a day.
 */
export function nodeSweep({ db, clock, config, metrics }: NodeRuntime): Sweep & { end(): Promise<void> } {
  const id = uuidv7(clock.now())
  const startedAt = new Date(clock.now()).toISOString()
  const roles = JSON.stringify([...config.roles])
  return {
    name: 'sign of life',
    everyMs: seconds(10),
    routine: true,
    async run() {
      const now = clock.now()
      const [uploads, usedBytes, limitBytes] = await Promise.all(
        [metrics.uploadsOpen, metrics.memoryUsed, metrics.memoryLimit].map(async (gauge) => {
          const [first] = (await gauge.get()).values
          return Math.round(first?.value ?? 0)
        }),
      )
      await db.execute(sql`
        with gone as (delete from nodes where seen_at < ${new Date(now - days(1)).toISOString()}::timestamptz)
        insert into nodes (id, version, roles, started_at, seen_at, uploads, memory_used_bytes, memory_bytes)
        values (${id}::uuid, ${manifest.version}, array(select jsonb_array_elements_text(${roles}::jsonb)),
          ${startedAt}::timestamptz, ${new Date(now).toISOString()}::timestamptz, ${uploads!}, ${usedBytes!}::bigint,
          ${limitBytes!}::bigint)
        on conflict (id) do update set seen_at = excluded.seen_at, uploads = excluded.uploads,
          memory_used_bytes = excluded.memory_used_bytes, memory_bytes = excluded.memory_bytes`)
      return 0
    },
    async end() {
      await db.execute(sql`delete from nodes where id = ${id}::uuid`)
    },
  }
}
