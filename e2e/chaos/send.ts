import { request } from 'node:http'

export type Reply = { status: number; headers: Record<string, string | undefined>; body: string }
export type Call = {
  method: string
  url: string
  headers?: Record<string, string>
  body?: Uint8Array
  /** Closes the connection after this many body bytes. */
  cutAfter?: number | undefined
}

const SILENT_MS = 30_000

/**
 * Sends one request on its own connection. Returns undefined if the connection broke on either side, so that the
 * outcome is unknown.
 */
export function send({ method, url, headers, body, cutAfter }: Call): Promise<Reply | undefined> {
  return new Promise((resolve) => {
    const length = body && { 'Content-Length': String(body.length) }
    const req = request(url, { method, headers: { ...headers, ...length }, agent: false })
    const lost = () => resolve(undefined)
    req.setTimeout(SILENT_MS, () => req.destroy())
    req.once('error', lost).once('close', lost)
    req.once('response', (res) => {
      const chunks: Buffer[] = []
      res.on('data', (chunk) => chunks.push(chunk))
      res.once('error', lost).once('end', () => {
        const text = Buffer.concat(chunks).toString()
        resolve({ status: res.statusCode!, headers: res.headers as Reply['headers'], body: text })
      })
    })
    if (cutAfter === undefined) req.end(body)
    else req.write(body!.subarray(0, cutAfter), () => req.socket?.resetAndDestroy())
  })
}
