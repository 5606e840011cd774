import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FileProtocol } from '#drizzle/schema/index.ts'
import { toProblem } from '../platform/http/problem.ts'
import { routeOf } from '../platform/http/route-of.ts'
import { SluiceError } from '../platform/kernel/errors.ts'
import { noteRequest } from '../platform/kernel/request-context.ts'
import type { Runtime } from '../platform/runtime.ts'
import type { UploadContext } from '../uploads/upload-context.ts'
import { chooseProtocol } from './choose-protocol.ts'
import { corsHeaders } from './endpoint/cors.ts'
import { interimSender } from './endpoint/interim-sender.ts'
import type { Protocol } from './endpoint/protocol.ts'
import { respond } from './endpoint/respond.ts'
import { parseUploadPath } from './endpoint/upload-path.ts'
import type { UploadRequest } from './endpoint/upload-request.ts'
import { optionsResponse } from './options-response.ts'
import { plainProtocol } from './plain/plain-protocol.ts'
import { resumableProtocol } from './resumable/resumable-protocol.ts'
import { tusProtocol } from './tus/tus-protocol.ts'

/**
 * The upload endpoint. It works on Node's own requests, so that bodies go from the socket to the bucket without a web
 * stream in between. Headers are checked before the database is queried, and the token before the body is read. This
 * handler does what all protocols have in common; the headers of a request determine which protocol handles it.
 */
type UploadHandler = (req: IncomingMessage, res: ServerResponse) => Promise<void>

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
      sendInterim: config.interimResponses ? interimSender(req, res) : undefined,
    }
    try {
      const request = read(req, head)
      noteRequest({ protocol: protocol.nameOf(request) })
      const response =
        method === 'OPTIONS'
          ? await optionsResponse(context, request)
          : await protocol.handle(context, config.uploadUrl, request)
      if (response) respond(req, res, { ...response, headers: { ...common, ...response.headers } })
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

/** These also go to an address that ends with the name of a new file: PUT creates it, and OPTIONS is its preflight. */
const METHODS_FOR_NEW_FILES = new Set(['PUT', 'OPTIONS'])

function read(
  req: IncomingMessage,
  head: Pick<UploadRequest, 'method' | 'origin' | 'protocol' | 'sendInterim'>,
): UploadRequest {
  const path = parseUploadPath(req.url ?? '')
  if (!path || (path.name && !path.fileId && !METHODS_FOR_NEW_FILES.has(head.method)))
    throw new SluiceError('not_found', 'Uploads go to /pipes/<pipe_id>/files/.')
  const { pipeId, fileId } = path
  noteRequest({ pipeId, ...(fileId && head.method !== 'PUT' && { fileId }) })
  return { ...path, ...head, headers: req.headers, body: req }
}
