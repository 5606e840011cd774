import { hostname } from 'node:os'
import { type Attributes, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import manifest from '../../../package.json' with { type: 'json' }
import type { Logger } from '../log/log.ts'
import type { SpanOptions, Tracer } from './span.ts'

/**
 * The only code that uses OpenTelemetry. Nothing is registered globally, because Next.js would then trace every page.
 */
export function openTelemetry(
  { keptShare, roles }: { keptShare: number; roles: string[] },
  log: Logger,
): { tracer: Tracer; stop(): Promise<void> } {
  const provider = new TracerProvider({
    resource: describeProcess(roles),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(keptShare) }),
    // The processor's queue is bounded: if the collector is down, traces are dropped.
    spanProcessors: [new BatchSpanProcessor({ exporter: tellOutages(new OTLPTraceExporter(), log) })],
  })
  const spans = provider.getTracer('sluice', manifest.version)
  return {
    async tracer(name, work, { parent, kind, startedAtMs, attributes }) {
      const options = { ...(kind && { kind: KINDS[kind] }), ...(startedAtMs && { startTime: startedAtMs }) }
      const span = spans.startSpan(name, options, contextOf(parent))
      const { traceId, spanId, traceFlags } = span.spanContext()
      const finish = (fault?: Attributes) => {
        const said = { ...attributes?.(), ...fault }
        span.setAttributes(said)
        if (said['error.type']) span.setStatus({ code: SpanStatusCode.ERROR })
        span.end()
      }
      try {
        const result = await work(`00-${traceId}-${spanId}-0${traceFlags & 1}`)
        finish()
        return result
      } catch (error) {
        finish({ 'error.type': typeOf(error) })
        throw error
      }
    },
    stop: () => provider.shutdown(),
  }
}

const KINDS: Record<NonNullable<SpanOptions['kind']>, SpanKind> = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
}

/** OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES add to this description and take precedence. */
function describeProcess(roles: string[]) {
  const own = resourceFromAttributes({
    'service.name': 'sluice',
    'service.version': manifest.version,
    'service.instance.id': `${hostname()}:${process.pid}`,
    'sluice.roles': roles,
  })
  return defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [envDetector] }))
}

function contextOf(traceparent: string | null | undefined) {
  if (!traceparent) return ROOT_CONTEXT
  const [, traceId, spanId, flags] = traceparent.split('-') as [string, string, string, string]
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & 1,
    isRemote: true,
  })
}

/** The error's code, if any. Its message may contain private data. */
function typeOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown }
  return String(code ?? name ?? 'error')
}

/** Logs one line when the collector stops accepting traces, and one when it accepts them again. */
function tellOutages(exporter: SpanExporter, log: Logger): SpanExporter {
  let away = false
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const failed = result.error !== undefined
        if (failed && !away) log.warn({ err: result.error }, 'the trace collector is not accepting traces')
        if (!failed && away) log.info('the trace collector is accepting traces again')
        away = failed
        done(result)
      })
    },
    shutdown: () => exporter.shutdown(),
  }
}
