import { connect } from 'node:http2'
import type { Call, Reply } from './http-call.ts'

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
