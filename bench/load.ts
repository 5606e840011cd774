import { Agent, type IncomingMessage, request } from 'node:http'

/** The client's side: as cheap as Node can be, with one buffer for all bytes. */
export const MiB = 1024 * 1024
const PIECE = Buffer.alloc(256 * 1024, 7)
const agent = new Agent({ keepAlive: true, maxSockets: 2000 })

export type Answer = { status: number; headers: IncomingMessage['headers'] }

export type Sending = { method: string; url: string; headers?: Record<string, string>; bytes?: number }

export function send({ method, url, headers = {}, bytes = 0 }: Sending): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { hostname, port, pathname } = new URL(url)
    const all = { ...headers, 'Content-Length': String(bytes) }
    const sent = request(
      { host: hostname, port, path: pathname, method, headers: all, agent },
      (response) => {
        response.resume()
        response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers }))
      },
    )
    sent.on('error', reject)
    let left = bytes
    const pump = () => {
      while (left > 0) {
        const piece = left < PIECE.length ? PIECE.subarray(0, left) : PIECE
        left -= piece.length
        if (!sent.write(piece)) return void sent.once('drain', pump)
      }
      sent.end()
    }
    pump()
  })
}

/** How to speak TUS to one of the servers. */
export type Target = { collection: string; headers: Record<string, string> }

const TUS = { 'Tus-Resumable': '1.0.0' }
const STREAM = { 'Content-Type': 'application/offset+octet-stream' }

export async function create({ collection, headers }: Target, bytes: number, body = 0): Promise<string> {
  const made = await send({
    ...{ method: 'POST', url: collection, bytes: body },
    headers: { ...TUS, ...headers, ...(body > 0 && STREAM), 'Upload-Length': String(bytes) },
  })
  if (made.status !== 201) throw new Error(`creation was answered with ${made.status}`)
  return made.headers.location!
}

export async function patch({ headers }: Target, url: string, offset: number, bytes: number): Promise<void> {
  const sent = await send({
    ...{ method: 'PATCH', url, bytes },
    headers: { ...TUS, ...headers, ...STREAM, 'Upload-Offset': String(offset) },
  })
  if (sent.status !== 204) throw new Error(`PATCH was answered with ${sent.status}`)
}

export async function head({ headers }: Target, url: string): Promise<void> {
  const { status } = await send({ method: 'HEAD', url, headers: { ...TUS, ...headers } })
  if (status !== 200) throw new Error(`HEAD was answered with ${status}`)
}

export async function upload(target: Target, bytes: number, chunkBytes = bytes): Promise<void> {
  const url = await create(target, bytes)
  for (let at = 0; at < bytes; at += chunkBytes)
    await patch(target, url, at, Math.min(chunkBytes, bytes - at))
}

/** Runs `count` pieces of work, so many at a time. */
export async function inParallel(
  count: number,
  atOnce: number,
  work: (n: number) => Promise<void>,
): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

export function percentile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)]!
}
