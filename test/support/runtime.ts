import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseHandle } from '#lib/platform/db/database.ts'
import { createLogger } from '#lib/platform/log/log.ts'
import { createMetrics } from '#lib/platform/metrics.ts'
import type { QueueName } from '#lib/platform/queue.ts'
import type { Runtime } from '#lib/platform/runtime.ts'
import { loadConfig } from '#lib/platform/settings/config.ts'
import { createVault } from '#lib/platform/vault.ts'

export type TestRuntime = Runtime & {
  clock: { now(): number; advance(ms: number): void }
  /** Jobs added to the queue; nothing processes them. */
  jobs: { queue: QueueName; data: object }[]
  logLines: string[]
}

const SETTINGS = {
  DATABASE_URL: 'postgres://never-opened',
  BASE_URL: 'http://localhost:3000',
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  AUTH_SECRET: 'a secret of thirty-two characters',
  METRICS_TOKEN: 'metrics-token-of-tests',
  ALLOWED_PRIVATE_HOSTS: '*',
  DATA_DIR: join(tmpdir(), 'sluice-tests'),
}

/**
 * A runtime for calling the application's functions on a test database: its clock is moved manually, and its queue only
 * records jobs.
 */
export function testRuntime(database: DatabaseHandle, settings: Record<string, string> = {}): TestRuntime {
  const config = loadConfig({ ...SETTINGS, ...settings })
  const jobs: TestRuntime['jobs'] = []
  const logLines: string[] = []
  let now = Date.parse('2026-03-04T12:00:00.000Z')
  return {
    config,
    clock: {
      now: () => now,
      advance(ms) {
        now += ms
      },
    },
    log: createLogger('debug', { write: (line) => void logLines.push(line) }),
    metrics: createMetrics(),
    database,
    db: database.db,
    queue: {
      enqueue: async (_tx, queue, data) => void jobs.push({ queue, data }),
      enqueueAll: async (_tx, queue, all) => void jobs.push(...all.map(({ data }) => ({ queue, data }))),
      work: async () => {},
      workBatches: async () => {},
      stop: async () => {},
    },
    vault: createVault(config.encryptionKeys),
    jobs,
    logLines,
  }
}

/** As many retries as in production, in a tenth of the time. */
export const QUICK_RETRIES_MS = [10, 40, 120, 300]
