import { openDatabase } from '#lib/platform/db/open-database.ts'
import { createLogger } from '#lib/platform/log/log.ts'
import { createMetrics } from '#lib/platform/metrics.ts'
import { openQueue, type Queue } from '#lib/platform/queue.ts'
import { loadConfig } from '#lib/platform/settings/config.ts'
import { startSweeps } from '#lib/platform/sweeps.ts'
import { createVault } from '#lib/platform/vault.ts'
import { startWebhookWorker } from '#lib/webhooks/delivery/dispatcher.ts'
import { webhookSweeps } from '#lib/webhooks/delivery/sweeps.ts'

/**
 * A process that only sends webhooks. It prints each step of each attempt, and dies at the step that DIE_AT names, if
 * any. Its clock is CLOCK_AHEAD_MS ahead. On SIGTERM, it prints the CPU time it used.
 */
const { DIE_AT, CLOCK_AHEAD_MS, QUIET } = process.env

function reached(step: string): void {
  if (!QUIET) process.stdout.write(`${step}\n`)
  if (step === DIE_AT) process.kill(process.pid, 'SIGKILL')
}

/** Adds two steps: when a job arrives from the queue, and before a transaction with new jobs commits. */
function watched(queue: Queue): Queue {
  return {
    ...queue,
    workBatches: (name, size, handle) =>
      queue.workBatches(name, size, async (data) => {
        reached('woken')
        await handle(data as never)
      }),
    async enqueueAll(tx, name, jobs) {
      await queue.enqueueAll(tx, name, jobs)
      if (tx !== database.db) reached('committing')
    },
  }
}

const config = loadConfig()
const log = createLogger('warn')
const database = await openDatabase(config, { log })
const queue = await openQueue(database, { worker: true, log })
const runtime = {
  config,
  clock: { now: () => Date.now() + Number(CLOCK_AHEAD_MS ?? 0) },
  log,
  metrics: createMetrics(),
  database,
  db: database.db,
  queue: watched(queue),
  vault: createVault(config.encryptionKeys),
}
const parts = [await startWebhookWorker(runtime, reached), startSweeps(webhookSweeps(runtime), log)]
process.stdout.write('ready\n')

process.once('SIGTERM', async () => {
  const { user, system } = process.cpuUsage()
  process.stdout.write(`cpu ${(user + system) / 1e6}\n`)
  await Promise.all(parts.map((part) => part.stop()))
  process.exit(0)
})
