import type { IncomingMessage, ServerResponse } from 'node:http'
import { routeOf } from '../../lib/platform/http/route-of.ts'
import type { RequestContext } from '../../lib/platform/kernel/request-context.ts'
import { isTracing, span } from '../../lib/platform/tracing/span.ts'

/**
 * The span of a whole request, until its answer is sent or its client gone. From here on the request bears its
 * traceparent, so that log lines, the timeline of the file and webhooks belong to it.
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
