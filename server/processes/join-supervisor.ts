import { SluiceError } from '../../lib/platform/kernel/errors.ts'
import type { Runtime } from '../../lib/platform/runtime.ts'
import { openLine } from './line.ts'

/** Longer than the supervisor waits for a blocked process. */
const METRICS_PATIENCE_MS = 5000

/**
 * Connects a process with its supervisor: the process reports when it is ready, and can collect the metrics of all
 * processes.
 */
export function joinSupervisor({ metrics }: Pick<Runtime, 'metrics'>): {
  sayReady(): Promise<unknown>
  readMetrics(): Promise<string>
} {
  const line = openLine(process, { metrics: () => metrics.registry.getMetricsAsJSON() })
  return {
    sayReady: () => line.ask('ready'),
    async readMetrics() {
      const text = await line.ask('metrics', METRICS_PATIENCE_MS)
      if (typeof text !== 'string') throw new SluiceError('unavailable', 'The supervisor does not respond.')
      return text
    },
  }
}
