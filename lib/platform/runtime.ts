import type { DatabaseHandle, Db } from './db/database.ts'
import type { Clock } from './kernel/clock.ts'
import { invariant } from './kernel/errors.ts'
import type { Logger } from './log/log.ts'
import type { Metrics } from './metrics.ts'
import type { Queue } from './queue.ts'
import type { Config } from './settings/config.ts'
import type { Vault } from './vault.ts'

/** The parts of a running process. A verb takes only the parts that it needs. */
export type Runtime = {
  config: Config
  clock: Clock
  log: Logger
  metrics: Metrics
  database: DatabaseHandle
  db: Db
  queue: Queue
  vault: Vault
}

/** The dependencies that most verbs need. */
export type CoreRuntime = Pick<Runtime, 'db' | 'clock'>
export type ConfiguredRuntime = Pick<Runtime, 'db' | 'clock' | 'config'>
/** The dependencies of a verb that also sends email. */
export type MailingRuntime = Pick<Runtime, 'db' | 'clock' | 'config' | 'queue' | 'vault'>

const KEY = Symbol.for('sluice.runtime')
const global = globalThis as { [KEY]?: Runtime }

/** The server sets this once. Next.js loads its own copy of every module, so this cannot be module state. */
export function setRuntime(runtime: Runtime): void {
  global[KEY] = runtime
}

export function getRuntime(): Runtime {
  const runtime = global[KEY]
  invariant(runtime, 'the server sets the runtime before it responds')
  return runtime
}
