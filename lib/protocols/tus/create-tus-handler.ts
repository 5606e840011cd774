import type { IncomingMessage, ServerResponse } from 'node:http'
import { TUS_RESUMABLE } from '@tus/server'
import { toProblem } from '../../platform/http/problem.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { noteRequest } from '../../platform/kernel/request-context.ts'
import type { Runtime } from '../../platform/runtime.ts'
import type { UploadContext } from '../../uploads/upload-context.ts'
import { corsHeaders, METHODS } from './cors.ts'
import { deleteUpload } from './delete-upload.ts'
import { headUpload } from './head-upload.ts'
import { answerOptions } from './options.ts'
import { patchUpload } from './patch-upload.ts'
import { postUpload } from './post-upload.ts'
import type { TusAnswer, TusRequest } from './tus-request.ts'
import { parseUploadPath } from './upload-path.ts'

/**
 * The TUS 1.0.0 endpoint (https://tus.io/protocols/resumable-upload), on Node's own requests: headers are judged before
 * the database is touched, the token before the body is read, and the body goes from the socket to the bucket without a
 * web stream in between. Each method has its file; here is what all of them share.
 */
export type TusHandler = (req: IncomingMessage, res: ServerResponse) => Promise<void>

export function createTusHandler(
  { config, log }: Pick<Runtime, 'config' | 'log'>,
  context: UploadContext,
): TusHandler {
  const answer = (request: TusRequest): Promise<TusAnswer | undefined> => {
    switch (request.method) {
      case 'OPTIONS':
        return answerOptions(context, request)
      case 'POST':
        return postUpload(context, config.uploadUrl, request)
      case 'HEAD':
        return headUpload(context, request)
      case 'PATCH':
        return patchUpload(context, request)
      case 'DELETE':
        return deleteUpload(context, request)
    }
    throw new SluiceError('method_not_allowed', `This address takes ${METHODS}.`, {
      headers: { Allow: METHODS },
    })
  }
  return async (req, res) => {
    const method = methodOf(req)
    const origin = req.headers.origin ?? null
    const common = method === 'OPTIONS' ? {} : { ...corsHeaders(origin), 'Tus-Resumable': TUS_RESUMABLE }
    try {
      const request = read(req, method, origin)
      const given = await answer(request)
      if (given) send(req, res, { ...given, headers: { ...common, ...given.headers } })
      else res.destroy()
    } catch (error) {
      const problem = toProblem(error, config.baseUrl)
      noteRequest({ code: problem.code })
      if (problem.status >= 500) log.error({ err: error, path: req.url }, 'an upload request failed')
      const cors = corsHeaders(origin)
      send(req, res, { ...problem, headers: { ...cors, ...common, ...problem.headers } })
    }
  }
}

/** TUS 1.0.0: "the request's method … MUST be ignored" where X-HTTP-Method-Override is present. */
function methodOf(req: IncomingMessage): string {
  const override = req.headers['x-http-method-override']
  return (typeof override === 'string' ? override : (req.method ?? '')).toUpperCase()
}

function read(req: IncomingMessage, method: string, origin: string | null): TusRequest {
  const path = parseUploadPath(req.url ?? '')
  if (!path) throw new SluiceError('not_found', 'Uploads go to /pipes/<pipe_id>/files/.')
  const { pipeId, fileId } = path
  noteRequest({ protocol: `tus ${TUS_RESUMABLE}`, pipeId, ...(fileId && { fileId }) })
  // "the Server MUST respond with the 412 Precondition Failed status and MUST include the Tus-Version header".
  if (method !== 'OPTIONS' && method !== 'GET' && req.headers['tus-resumable'] !== TUS_RESUMABLE)
    throw new SluiceError('version_not_supported', `Send Tus-Resumable: ${TUS_RESUMABLE}.`, {
      headers: { 'Tus-Version': TUS_RESUMABLE },
    })
  return { ...path, method, origin, headers: req.headers, body: req }
}

/** A client that is still sending must be able to read why it should stop, so the line is not cut at once. */
const LINGER_MS = 1000

function send(req: IncomingMessage, res: ServerResponse, { status, headers, body }: TusAnswer): void {
  if (res.destroyed || res.headersSent) return
  const early = !req.complete && req.headers['content-length'] !== '0' && hasBody(req)
  const head = req.method === 'HEAD' || status === 204
  const length = head && body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body ?? '')) }
  res.writeHead(status, { ...headers, ...length, ...(early && { Connection: 'close' }) })
  if (!early) return void res.end(head ? undefined : body)
  res.flushHeaders()
  if (body && !head) res.write(body)
  req.resume()
  const end = () => res.end()
  const timer = setTimeout(end, LINGER_MS)
  req.once('end', end).once('close', () => clearTimeout(timer))
}

function hasBody(req: IncomingMessage): boolean {
  return req.headers['content-length'] !== undefined || req.headers['transfer-encoding'] !== undefined
}
