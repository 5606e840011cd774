import { type IncomingHttpHeaders, request as requestHttp } from 'node:http'
import { connect } from 'node:http2'
import { request as requestHttps } from 'node:https'

/** A plain HTTP request and its response. */
export type Reply = { status: number; headers: Record<string, string>; body: string }
export type Interim = { status: number; headers: IncomingHttpHeaders }

export type Call = {
  method: string
  url: string
  token?: string | undefined
  headers?: Record<string, string>
  body?: Buffer | undefined
  trailers?: Record<string, string>
}

const requestOf = (url: string) => (url.startsWith('https:') ? requestHttps : requestHttp)

export function httpCall({ method, url, token, headers = {}, body, trailers }: Call): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const all = {
      ...(token && { Authorization: `Bearer ${token}` }),
      ...(body && !trailers && !headers['Transfer-Encoding'] && { 'Content-Length': String(body.length) }),
      ...headers,
    }
    const sent = requestOf(url)(url, { method, headers: all, agent: false }, async (response) => {
      const text = Buffer.concat(await response.toArray()).toString()
      resolve({
        status: response.statusCode!,
        headers: response.headers as Record<string, string>,
        body: text,
      })
    })
    sent.on('error', reject)
    if (trailers) sent.addTrailers(trailers)
    sent.end(body)
  })
}

/** Opens a request whose body the test sends piece by piece and can cut off. */
export function openCall({ method, url, token, headers = {} }: Omit<Call, 'body' | 'trailers'>) {
  const all = { ...(token && { Authorization: `Bearer ${token}` }), ...headers }
  const sent = requestOf(url)(url, { method, agent: false, headers: all })
  const interim: Interim[] = []
  sent.on('information', ({ statusCode, headers }) => interim.push({ status: statusCode, headers }))
  const reply = new Promise<Reply>((resolve, reject) => {
    sent.on('error', reject)
    sent.on('response', async (response) => {
      response.on('error', reject)
      const text = Buffer.concat(await response.toArray().catch(() => [])).toString()
      resolve({
        status: response.statusCode!,
        headers: response.headers as Record<string, string>,
        body: text,
      })
    })
  })
  reply.catch(() => {})
  sent.flushHeaders()
  return {
    reply,
    /** The interim responses so far. */
    interim,
    /** Resolves when the operating system has accepted the bytes. */
    write: (bytes: Buffer) => new Promise<void>((resolve) => void sent.write(bytes, () => resolve())),
    end: () => void sent.end(),
    cut: () => void sent.destroy(),
  }
}

/**
 * Sends a request over HTTP/2 without TLS to `port`, regardless of the URL's host. Interim responses are returned
 * separately.
 */
export async function http2Call(
  port: number,
  { method, url, token, headers = {}, body = Buffer.alloc(0) }: Call,
): Promise<Reply & { interim: number[] }> {
  const { host, pathname } = new URL(url)
  const session = connect(`http://127.0.0.1:${port}`)
  const interim: number[] = []
  try {
    return await new Promise((resolve, reject) => {
      session.on('error', reject)
      const stream = session.request({
        ':method': method,
        ':path': pathname,
        ':authority': host,
        'content-length': String(body.length),
        ...(token && { authorization: `Bearer ${token}` }),
        ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
      })
      stream.on('error', reject)
      stream.on('headers', (early) => interim.push(Number(early[':status'])))
      stream.on('response', async (answer) => {
        const text = Buffer.concat(await stream.toArray()).toString()
        const { ':status': status, ...rest } = answer
        resolve({ status: Number(status), headers: rest as Record<string, string>, body: text, interim })
      })
      stream.end(body)
    })
  } finally {
    session.close()
  }
}
