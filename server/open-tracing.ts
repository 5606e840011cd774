import type { Logger } from '../lib/platform/log/log.ts'
import type { Config } from '../lib/platform/settings/config.ts'
import { setTracer } from '../lib/platform/tracing/span.ts'

export type Tracing = {
  /** Sends the remaining traces. */
  stop(): Promise<void>
}

/** OpenTelemetry is only loaded if a setting says where to send traces. */
export async function openTracing(
  { tracing, roles }: Pick<Config, 'tracing' | 'roles'>,
  log: Logger,
): Promise<Tracing | undefined> {
  if (!tracing) return undefined
  const { openTelemetry } = await import('../lib/platform/tracing/open-telemetry.ts')
  const { tracer, stop } = openTelemetry({ ...tracing, roles: [...roles] }, log)
  setTracer(tracer)
  return { stop }
}
