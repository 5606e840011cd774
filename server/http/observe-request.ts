import type { IncomingMessage, ServerResponse } from 'node:http'
import { routeOf } from '../../lib/platform/http/read-request.ts'
import type { RequestContext } from '../../lib/platform/kernel/request-context.ts'
import type { Logger } from '../../lib/platform/log/log.ts'
import type { Runtime } from '../../lib/platform/runtime.ts'
import { isTracing, span } from '../../lib/platform/tracing/span.ts'

/** The access log is written regardless of LOG_LEVEL, unless that is `silent`. */
export type AccessLog = { log: Logger; fromStatus: number }

const FROM_STATUS = { off: Number.POSITIVE_INFINITY, errors: 400, all: 0 }

export function openAccessLog({ config, log }: Pick<Runtime, 'config' | 'log'>): AccessLog {
  const level = config.logLevel === 'silent' ? 'silent' : 'info'
  return { log: log.child({}, { level }), fromStatus: FROM_STATUS[config.accessLog] }
}

type Begun = { startedAt: number; received: () => number; context: RequestContext }

/** Counts each request when it ends, and writes its access log line if ACCESS_LOG is set accordingly. */
export function observeRequest(
  req: IncomingMessage,
  res: ServerResponse,
  { metrics }: Pick<Runtime, 'metrics'>,
  { startedAt, received, context }: Begun,
  access: AccessLog,
): void {
  res.once('close', () => {
    const path = (req.url ?? '/').split('?', 1)[0]!
    const method = req.method ?? ''
    const ms = performance.now() - startedAt
    // The status that was sent, or 499 if the client left before a status was sent.
    const status = res.headersSent ? res.statusCode : 499
    metrics.http.observe({ handler: handlerOf(path), method, status: String(status) }, ms / 1000)
    if (status < access.fromStatus) return
    access.log.info(
      {
        requestId: context.id,
        ...(context.traceparent && { traceId: context.traceparent.split('-')[1] }),
        client: context.client,
        method,
        route: routeOf(path),
        status,
        bytesIn: received(),
        ms: Math.round(ms),
        protocol: `HTTP/${req.httpVersion}`,
        ...context.notes,
      },
      'request',
    )
  })
}

/**
 * Counts body bytes as they are received, by any reader. Call this before awaiting anything, because the first bytes
 * may have arrived with the headers.
 */
export function countBody(req: IncomingMessage): () => number {
  let bytes = 0
  const push = req.push.bind(req)
  req.push = (chunk, encoding) => {
    if (chunk) bytes += chunk.length
    return push(chunk, encoding)
  }
  return () => bytes
}

function handlerOf(path: string): 'tus' | 'api' | 'pages' {
  return path.startsWith('/pipes/') ? 'tus' : path.startsWith('/api/') ? 'api' : 'pages'
}

/**
 * Creates the span of an entire request, which ends when the response is sent or the client is gone. The request gets
 * the span's traceparent, so that log lines, the file's timeline and webhooks belong to the span.
 */
export function traceRequest(req: IncomingMessage, res: ServerResponse, context: RequestContext): void {
  if (!isTracing()) return
  const method = req.method ?? ''
  const route = routeOf(req.url ?? '/')
  void span(
    `${method} ${route}`,
    (traceparent) => {
      context.traceparent = traceparent
      return new Promise<void>((resolve) => res.once('close', resolve))
    },
    {
      parent: context.traceparent,
      kind: 'server',
      attributes: () => {
        const { workspaceId, pipeId, fileId, code } = context.notes
        const status = res.headersSent ? res.statusCode : 499
        return {
          'http.request.method': method,
          'http.route': route,
          'http.response.status_code': status,
          'client.address': context.client,
          'sluice.request_id': context.id,
          'sluice.workspace_id': workspaceId,
          'sluice.pipe_id': pipeId,
          'sluice.file_id': fileId,
          'error.type': status >= 500 ? (code ?? String(status)) : undefined,
        }
      },
    },
  )
}
