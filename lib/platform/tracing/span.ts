import { currentRequest } from '../kernel/request-context.ts'

/**
 * Says where a part of the work begins and ends, for traces. Without tracing the work is done and nothing else. The parent
 * is named rather than followed through async contexts: it is the request that the running code answers, or `parent`.
 */
export type SpanOptions = {
  /** A W3C traceparent; by default that of the request. */
  parent?: string | null | undefined
  kind?: 'server' | 'client' | 'consumer'
  startedAtMs?: number
  /** Asked for at the end, when all is known. `error.type` makes it a failed span. Never a secret, nor a message. */
  attributes?: () => Record<string, string | number | undefined>
}
/** `traceparent` is that of the new span, for what the work causes elsewhere. */
export type Tracer = <Result>(
  name: string,
  work: (traceparent?: string) => Promise<Result>,
  options: SpanOptions,
) => Promise<Result>

const KEY = Symbol.for('sluice.tracer')
const global = globalThis as { [KEY]?: Tracer | undefined }

/** Next loads its own copy of every module, so it cannot live in one. */
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
