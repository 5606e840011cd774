import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { toProblem } from '../platform/http/problem.ts'
import { routeOf } from '../platform/http/read-request.ts'
import { SluiceError } from '../platform/kernel/errors.ts'
import { addressesHere, noteRequest } from '../platform/kernel/request-context.ts'
import type { Runtime } from '../platform/runtime.ts'
import { limitsOfDestinations, maxUploadBytes } from '../uploads/opening/may-create.ts'
import type { HttpProtocol, UploadContext } from '../uploads/upload-context.ts'
import { assertServedHere, findPublicPipe } from '../workspace/pipes/read-pipes.ts'
import { corsHeaders, isAllowedOrigin, METHODS, preflight } from './endpoint/cors.ts'
import { showResult } from './endpoint/decision.ts'
import {
  type Protocol,
  parseUploadPath,
  type UploadRequest,
  type UploadResponse,
} from './endpoint/upload-request.ts'
import { plainProtocol } from './plain/plain-protocol.ts'
import { isOfDraft, namesVersion } from './resumable/fields.ts'
import { resumableAbilities } from './resumable/responses.ts'
import { resumableProtocol } from './resumable/resumable-protocol.ts'
import { sealByUploader } from './tus/seal-batch.ts'
import { tusAbilities, tusProtocol } from './tus/tus-protocol.ts'

type UploadHandler = (req: IncomingMessage, res: ServerResponse) => Promise<void>

const PROTOCOLS: Record<HttpProtocol, Protocol> = {
  tus: tusProtocol,
  'resumable-http': resumableProtocol,
  http: plainProtocol,
}

/**
 * The upload endpoint. It uses Node's own request objects, so that bodies go from the socket to the bucket without a
 * web stream in between. Headers are checked before the database is queried, and the token before the body is read.
 * This handler does what all protocols have in common; a request's headers determine which protocol handles the rest.
 */
export function createUploadHandler(
  { config, log }: Pick<Runtime, 'config' | 'log'>,
  context: UploadContext,
): UploadHandler {
  return async (req, res) => {
    const method = methodOf(req)
    const origin = req.headers.origin ?? null
    const { baseUrl, uploadUrl } = addressesHere(config)
    const name = chooseProtocol(method, req.headers)
    const protocol = PROTOCOLS[name]
    const common = method === 'OPTIONS' ? {} : { ...corsHeaders(origin), ...protocol.headers }
    const head = {
      method,
      origin: origin !== null && origin === new URL(baseUrl).origin ? null : origin,
      protocol: name,
      sendInterim: config.interimResponses ? interimSender(req, res) : undefined,
    }
    try {
      const request = read(req, head)
      noteRequest({ protocol: protocol.nameOf(request) })
      // Offset requests check this as they look up the upload, and retry what fails.
      if (method !== 'HEAD') await assertServedHere(context.db, request.pipeId)
      const response =
        method === 'OPTIONS'
          ? await optionsResponse(context, request)
          : request.sealsBatch
            ? await sealByUploader(context, request)
            : request.ofResult && method === 'GET'
              ? await showResult(context, request)
              : await protocol.handle(context, uploadUrl, request)
      if (response) respond(req, res, { ...response, headers: { ...common, ...response.headers } })
      else res.destroy()
    } catch (thrown) {
      const error = protocol.refusal?.(thrown, { method, headers: req.headers }) ?? thrown
      const problem = toProblem(error, config.baseUrl)
      noteRequest({ code: problem.code })
      if (problem.isFault)
        log.error({ err: error, route: routeOf(req.url ?? '/') }, 'an upload request failed')
      respond(req, res, { ...problem, headers: { ...corsHeaders(origin), ...common, ...problem.headers } })
    }
  }
}

/** TUS 1.0.0: "the request's method … MUST be ignored" if X-HTTP-Method-Override is present. */
function methodOf(req: IncomingMessage): string {
  const override = req.headers['x-http-method-override']
  return (typeof override === 'string' ? override : (req.method ?? '')).toUpperCase()
}

/**
 * Methods whose address may end with the name of a new file: PUT creates the file, and OPTIONS is the preflight for
 * PUT.
 */
const METHODS_FOR_NEW_FILES = new Set(['PUT', 'OPTIONS'])
/**
 * The methods allowed for addresses that end with `/result`. PUT is included because it creates a file of that name.
 */
const METHODS_OF_RESULTS = new Set(['GET', 'PUT', 'OPTIONS'])

function read(
  req: IncomingMessage,
  head: Pick<UploadRequest, 'method' | 'origin' | 'protocol' | 'sendInterim'>,
): UploadRequest {
  const path = parseUploadPath(req.url ?? '')
  if (!path || (path.name && !path.fileId && !METHODS_FOR_NEW_FILES.has(head.method)))
    throw new SluiceError('not_found', 'Uploads go to /pipes/<pipe_id>/files/.')
  if (path.ofResult && !METHODS_OF_RESULTS.has(head.method))
    throw new SluiceError('method_not_allowed', 'Use GET to read the result of an upload.')
  const { pipeId, fileId } = path
  noteRequest({ pipeId, ...(fileId && head.method !== 'PUT' && { fileId }) })
  return { ...path, ...head, headers: req.headers, body: req }
}

const OF_BODIES = ['content-length', 'transfer-encoding']
const OF_TUS = ['upload-defer-length', 'upload-metadata', 'upload-concat']

/**
 * Each protocol is recognized by headers that only it uses. A request without any of them is a plain upload if it has
 * a body, even an empty one. Anything else is treated as TUS, which rejects it because Tus-Resumable is missing.
 */
export function chooseProtocol(method: string, headers: IncomingHttpHeaders): HttpProtocol {
  if ('tus-resumable' in headers) return 'tus'
  // Checked before the TUS headers: tus-js-client also sends Upload-Metadata in this protocol.
  if (namesVersion(headers)) return 'resumable-http'
  if (OF_TUS.some((name) => name in headers)) return 'tus'
  if (isOfDraft(headers)) return 'resumable-http'
  if ('upload-length' in headers) return 'tus'
  if (method === 'PUT' || (method === 'POST' && OF_BODIES.some((name) => name in headers))) return 'http'
  return 'tus'
}

/**
 * The response to OPTIONS: what this Pipe supports, and whether a page from another origin may use it. No token is
 * needed.
 */
async function optionsResponse(context: UploadContext, request: UploadRequest): Promise<UploadResponse> {
  const pipe = await findPublicPipe(context.db, request.pipeId)
  if (!pipe) throw new SluiceError('pipe_not_found', 'There is no such Pipe.')
  const limits = limitsOfDestinations(context, pipe.destinations)
  const maxBytes = maxUploadBytes(limits, { tokenBytes: null, pipeBytes: pipe.maxFileBytes })
  const asked = request.headers['access-control-request-method'] !== undefined
  const cors = asked && preflight(request.origin, isAllowedOrigin(pipe.allowedOrigins, request.origin))
  // TUS allows 200 and 204, but the iOS system client only accepts 200.
  const abilities = {
    ...tusAbilities(context, pipe, maxBytes),
    ...resumableAbilities(request, pipe, maxBytes),
  }
  return { status: 200, headers: { Allow: METHODS, ...abilities, ...cors } }
}

const DRAIN_BYTES = 64 * 1024 * 1024
/** A client learns about a conflict from HEAD as well, so it should not keep sending bytes that it has sent before. */
const DRAIN_CONFLICT_BYTES = 256 * 1024
const DRAIN_MS = 30_000
const DRAIN_IDLE_MS = 1000

/**
 * Many clients only read a response once they have sent their entire body, and lose it if the connection is closed
 * before that. So the remaining bytes of a refused request are read and dropped, within these limits.
 */
export function respond(
  req: IncomingMessage,
  res: ServerResponse,
  { status, headers, body }: UploadResponse,
): void {
  if (res.destroyed || res.headersSent) return
  const early = !req.complete && hasBody(req)
  const head = req.method === 'HEAD' || status === 204
  const length = head && body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body ?? '')) }
  res.writeHead(status, { ...headers, ...length, ...(early && { Connection: 'close' }) })
  if (!early) return void res.end(head ? undefined : body)
  res.flushHeaders()
  if (body && !head) res.write(body)
  drain(req, status === 409 ? DRAIN_CONFLICT_BYTES : DRAIN_BYTES, () => res.end())
}

function drain(req: IncomingMessage, maxBytes: number, end: () => void): void {
  let leftBytes = maxBytes
  const idle = setTimeout(end, DRAIN_IDLE_MS)
  const longest = setTimeout(end, DRAIN_MS)
  // A source that was created but never started would keep the body from being read.
  req.removeAllListeners('data')
  req.on('data', (chunk: Buffer) => {
    idle.refresh()
    leftBytes -= chunk.length
    if (leftBytes < 0) end()
  })
  req.once('end', end).once('close', () => {
    clearTimeout(idle)
    clearTimeout(longest)
  })
  req.resume()
}

export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return (
    headers['transfer-encoding'] !== undefined ||
    (headers['content-length'] !== undefined && headers['content-length'] !== '0')
  )
}

/**
 * Undefined if interim responses cannot be sent: Node 22 only supports some of their statuses, and HTTP/1.0 has no
 * interim responses.
 */
export function interimSender(req: IncomingMessage, res: ServerResponse): UploadRequest['sendInterim'] {
  if (typeof res.writeInformation !== 'function' || req.httpVersion === '1.0') return undefined
  return (status, headers) => {
    if (res.headersSent || res.destroyed || !res.socket?.writable) return false
    res.writeInformation(status, headers)
    return true
  }
}
