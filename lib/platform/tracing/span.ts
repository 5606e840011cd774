import { currentRequest } from '../kernel/request-context.ts'

/**
 * Marks the start and end of an operation, for traces. Without tracing, it only runs the work. The parent, which is the
 * current request unless `parent` is set, is passed explicitly instead of through OpenTelemetry's contexts.
 */
export type SpanOptions = {
  /** A W3C traceparent; defaults to that of the current request. */
  parent?: string | null | undefined
  kind?: 'server' | 'client' | 'consumer'
  startedAtMs?: number
  /**
   * Called at the end of the operation, when everything is known. `error.type` marks the span as failed. Attributes
   * must not contain secrets or error messages.
   */
  attributes?: () => Record<string, string | number | undefined>
}
/** `traceparent` is that of the new span, for work that the operation causes elsewhere. */
export type Tracer = <Result>(
  name: string,
  work: (traceparent?: string) => Promise<Result>,
  options: SpanOptions,
) => Promise<Result>

const KEY = Symbol.for('sluice.tracer')
const global = globalThis as { [KEY]?: Tracer | undefined }

/** Next.js loads its own copy of every module, so this cannot be module state. */
export function setTracer(tracer: Tracer | undefined): void {
  global[KEY] = tracer
}

export function isTracing(): boolean {
  return global[KEY] !== undefined
}

export function span<Result>(
  name: string,
  work: (traceparent?: string) => Promise<Result>,
  options?: SpanOptions,
): Promise<Result> {
  const tracer = global[KEY]
  if (!tracer) return work()
  return tracer(name, work, { parent: currentRequest()?.traceparent, ...options })
}
