import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FileProtocol } from '#drizzle/schema/index.ts'
import { routeOf } from '../platform/http/observe-request.ts'
import { toProblem } from '../platform/http/problem.ts'
import { SluiceError } from '../platform/kernel/errors.ts'
import { noteRequest } from '../platform/kernel/request-context.ts'
import type { Runtime } from '../platform/runtime.ts'
import type { UploadContext } from '../uploads/upload-context.ts'
import { chooseProtocol } from './choose-protocol.ts'
import { corsHeaders } from './endpoint/cors.ts'
import { informs } from './endpoint/informs.ts'
import type { Protocol } from './endpoint/protocol.ts'
import { respond } from './endpoint/respond.ts'
import { parseUploadPath } from './endpoint/upload-path.ts'
import type { UploadRequest } from './endpoint/upload-request.ts'
import { optionsResponse } from './options-response.ts'
import { plainProtocol } from './plain/plain-protocol.ts'
import { resumableProtocol } from './resumable/resumable-protocol.ts'
import { tusProtocol } from './tus/tus-protocol.ts'

/**
 * The upload endpoint, on Node's own requests: headers are judged before the database is touched, the token before the
 * body is read, and the body goes from the socket to the bucket without a web stream in between. A request's headers tell
 * its protocol; here is what all of them share.
 */
export type UploadHandler = (req: IncomingMessage, res: ServerResponse) => Promise<void>

const PROTOCOLS: Record<FileProtocol, Protocol> = {
  tus: tusProtocol,
  'resumable-http': resumableProtocol,
  http: plainProtocol,
}

export function createUploadHandler(
  { config, log }: Pick<Runtime, 'config' | 'log'>,
  context: UploadContext,
): UploadHandler {
  return async (req, res) => {
    const method = methodOf(req)
    const origin = req.headers.origin ?? null
    const name = chooseProtocol(method, req.headers)
    const protocol = PROTOCOLS[name]
    const common = method === 'OPTIONS' ? {} : { ...corsHeaders(origin), ...protocol.headers }
    const head = {
      method,
      origin,
      protocol: name,
      inform: config.interimResponses ? informs(req, res) : undefined,
    }
    try {
      const request = read(req, head)
      noteRequest({ protocol: protocol.nameOf(request) })
      const given =
        method === 'OPTIONS'
          ? await optionsResponse(context, request)
          : await protocol.handle(context, config.uploadUrl, request)
      if (given) respond(req, res, { ...given, headers: { ...common, ...given.headers } })
      else res.destroy()
    } catch (thrown) {
      const error = protocol.refusal?.(thrown, { method, headers: req.headers }) ?? thrown
      const problem = toProblem(error, config.baseUrl)
      noteRequest({ code: problem.code })
      if (problem.status >= 500)
        log.error({ err: error, route: routeOf(req.url ?? '/') }, 'an upload request failed')
      respond(req, res, { ...problem, headers: { ...corsHeaders(origin), ...common, ...problem.headers } })
    }
  }
}

/** TUS 1.0.0: "the request's method … MUST be ignored" where X-HTTP-Method-Override is present. */
function methodOf(req: IncomingMessage): string {
  const override = req.headers['x-http-method-override']
  return (typeof override === 'string' ? override : (req.method ?? '')).toUpperCase()
}

/** To the address of a file that is not there yet, which may have any name; a page asks for leave first. */
const OF_NEW_FILES = new Set(['PUT', 'OPTIONS'])

function read(
  req: IncomingMessage,
  head: Pick<UploadRequest, 'method' | 'origin' | 'protocol' | 'inform'>,
): UploadRequest {
  const path = parseUploadPath(req.url ?? '')
  if (!path || (path.name && !path.fileId && !OF_NEW_FILES.has(head.method)))
    throw new SluiceError('not_found', 'Uploads go to /pipes/<pipe_id>/files/.')
  const { pipeId, fileId } = path
  noteRequest({ pipeId, ...(fileId && head.method !== 'PUT' && { fileId }) })
  return { ...path, ...head, headers: req.headers, body: req }
}
