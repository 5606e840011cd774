import { type ClientRequest, request as http, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as https } from 'node:https'
import { pipeline } from 'node:stream/promises'

/** The TUS requests for uploading a file. */
export type Answer = { status: number; headers: IncomingMessage['headers']; text: string; detail: string }
type Sent = { method: string; url: string; token: string; headers?: Record<string, string> }
type Body = {
  bytes: number
  /** An array if all of it is in memory. */
  chunks: Buffer[] | AsyncIterable<Buffer>
  onBytes(chunk: Buffer): void
}

/** The last request starts at a multiple of this, so its parts have the usual size. */
const LAST_BYTES = 8 * 1024 * 1024

/** Where the request with the last of this many bytes starts. */
export const startOfLast = (bytes: number): number =>
  Math.max(0, Math.floor((bytes - 1) / LAST_BYTES) * LAST_BYTES)

/** A connection that is silent for this long is closed. */
const SILENCE_MS = 60_000

export async function send({ method, url, token, headers = {} }: Sent, body?: Body): Promise<Answer> {
  const length = body?.bytes ?? 0
  const all = {
    Authorization: `Bearer ${token}`,
    'Tus-Resumable': '1.0.0',
    'Content-Length': String(length),
    ...(body && { 'Content-Type': 'application/offset+octet-stream' }),
    ...headers,
  }
  const options: RequestOptions = { method, headers: all, timeout: SILENCE_MS }
  const req = url.startsWith('https:') ? https(url, options) : http(url, options)
  req.on('timeout', () => req.destroy(new Error('The connection timed out.')))
  const answered = readAnswer(req)
  if (length === 0 || !body) req.end()
  else await Promise.race([answered, sendBody(req, body)])
  const answer = await answered
  // The server refused the request before its entire body was sent.
  if (!req.writableFinished) req.destroy()
  return answer
}

async function sendBody(req: ClientRequest, { chunks, onBytes }: Body): Promise<void> {
  // Most files in a folder of many: the headers and the bytes in one write.
  if (Array.isArray(chunks) && chunks.length === 1) {
    onBytes(chunks[0]!)
    req.end(chunks[0])
    return
  }
  async function* counted() {
    try {
      for await (const chunk of chunks) {
        onBytes(chunk)
        yield chunk
      }
    } catch (error) {
      // `pipeline` would abort the request without the reason.
      req.destroy(error as Error)
      throw error
    }
  }
  // An early refusal closes the connection; the response says why.
  await pipeline(counted, req).catch((error) => req.destroy(error))
}

function readAnswer(req: ClientRequest): Promise<Answer> {
  const answered = new Promise<Answer>((resolve, reject) => {
    req.on('error', (error) => reject(withReason(error)))
    req.once('response', (res) => {
      let text = ''
      res.setEncoding('utf8')
      res.on('data', (chunk) => {
        text += chunk
      })
      res.once('error', reject)
      res.once('end', () =>
        resolve({ status: res.statusCode!, headers: res.headers, text, detail: text && detailOf(text) }),
      )
    })
  })
  answered.catch(() => {})
  return answered
}

/** If a host has several addresses and none of them can be reached, Node's error has a code but no message. */
function withReason(error: NodeJS.ErrnoException): Error {
  return error.message ? error : new Error(error.code, { cause: error })
}

function detailOf(text: string): string {
  try {
    return JSON.parse(text).detail ?? ''
  } catch {
    return ''
  }
}
