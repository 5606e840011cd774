import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { connect as connectByTls } from 'node:tls'

/**
 * The client side, on plain sockets, the same for every contender. The client, the server, the database and the sink
 * share the machine, so everything that the client does not use is left for the contender.
 */
export const MiB = 1024 * 1024
const PIECE = Buffer.alloc(256 * 1024, 7)

export type Answer = { status: number; headers: Record<string, string> }

export type Sending = { method: string; url: string; headers?: Record<string, string>; bytes?: number }

/** Sockets waiting for their next request, by host. */
const idle = new Map<string, Socket[]>()

export async function send({ method, url, headers = {}, bytes = 0 }: Sending): Promise<Answer> {
  const { host, hostname, port, pathname, protocol } = new URL(url)
  const all = { Host: host, ...headers, 'Content-Length': String(bytes) }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `${method} ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n`
  const socket = takeIdle(host) ?? open(protocol, hostname, Number(port))
  const answered = readAnswer(socket, method)
  pump(socket, head, bytes)
  const answer = await answered
  if (answer.headers.connection === 'close') socket.destroy()
  else idle.get(host)!.push(socket)
  return answer
}

/** Does not verify the server's certificate: a benchmark only measures the cost of TLS. */
function open(protocol: string, host: string, port: number): Socket {
  const socket =
    protocol === 'https:' ? connectByTls({ host, port, rejectUnauthorized: false }) : connect(port, host)
  // A server may reset a socket that is waiting for its next request.
  return socket.setNoDelay().on('error', () => {})
}

/** Closes idle connections, since the server could close one just when the next request is sent. */
export function closeIdle(): void {
  for (const sockets of idle.values()) for (const socket of sockets.splice(0)) socket.destroy()
}

/** Returns an idle socket that has not been destroyed. */
function takeIdle(host: string): Socket | undefined {
  const open = (idle.get(host) ?? []).filter((socket) => !socket.destroyed)
  const socket = open.pop()
  idle.set(host, open)
  return socket
}

function pump(socket: Socket, head: string, bytes: number): void {
  socket.cork()
  socket.write(head, 'latin1')
  let left = bytes
  const more = () => {
    while (left > 0) {
      const piece = left < PIECE.length ? PIECE.subarray(0, left) : PIECE
      left -= piece.length
      if (!socket.write(piece)) break
    }
    if (left > 0) socket.once('drain', more)
  }
  more()
  socket.uncork()
}

function readAnswer(socket: Socket, method: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let text = ''
    const lost = (error?: Error) => done(() => reject(error ?? new Error('the connection was closed')))
    const onData = (data: Buffer) => {
      text += data.toString('latin1')
      const answer = parseAnswer(text, method)
      if (answer) done(() => resolve(answer))
    }
    const done = (tell: () => void) => {
      socket.off('data', onData).off('error', lost).off('close', lost)
      tell()
    }
    socket.on('data', onData).on('error', lost).on('close', lost).resume()
  })
}

/** Returns undefined until the entire response has arrived. */
function parseAnswer(text: string, method: string): Answer | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [first, ...lines] = text.slice(0, end).split('\r\n')
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const colon = line.indexOf(':')
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim()
  }
  const status = Number(first!.slice(9, 12))
  const body = text.length - end - 4
  if (method === 'HEAD' || status === 204) return { status, headers }
  const whole = headers['transfer-encoding']
    ? text.endsWith('0\r\n\r\n')
    : body >= Number(headers['content-length'] ?? 0)
  return whole ? { status, headers } : undefined
}

/** How to use TUS with one of the servers. */
export type Target = { collection: string; headers: Record<string, string> }

const TUS = { 'Tus-Resumable': '1.0.0' }
const STREAM = { 'Content-Type': 'application/offset+octet-stream' }

export async function create({ collection, headers }: Target, bytes: number, body = 0): Promise<string> {
  const made = await send({
    method: 'POST',
    url: collection,
    bytes: body,
    headers: { ...TUS, ...headers, ...(body > 0 && STREAM), 'Upload-Length': String(bytes) },
  })
  if (made.status !== 201) throw new Error(`creation failed with ${made.status}`)
  // Sends later requests to the same host, even if it is a proxy and the location names the server behind it.
  return new URL(new URL(made.headers.location!).pathname, collection).href
}

export async function patch({ headers }: Target, url: string, offset: number, bytes: number): Promise<void> {
  const sent = await send({
    method: 'PATCH',
    url,
    bytes,
    headers: { ...TUS, ...headers, ...STREAM, 'Upload-Offset': String(offset) },
  })
  if (sent.status !== 204) throw new Error(`PATCH failed with ${sent.status}`)
}

export async function head({ headers }: Target, url: string): Promise<void> {
  const { status } = await send({ method: 'HEAD', url, headers: { ...TUS, ...headers } })
  if (status !== 200) throw new Error(`HEAD failed with ${status}`)
}

export async function upload(target: Target, bytes: number, chunkBytes = bytes): Promise<void> {
  const url = await create(target, bytes)
  for (let at = 0; at < bytes; at += chunkBytes)
    await patch(target, url, at, Math.min(chunkBytes, bytes - at))
}

/** Runs `count` tasks, `atOnce` at a time. */
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

/** Starts `work` at this rate for the given time, and waits until every call has finished. */
export async function steadily(
  { perSecond, seconds }: { perSecond: number; seconds: number },
  work: (n: number) => Promise<void>,
): Promise<void> {
  const startedMs = performance.now()
  const working: Promise<void>[] = []
  for (let n = 0; n < perSecond * seconds; n++) {
    const waitMs = startedMs + (n * 1000) / perSecond - performance.now()
    if (waitMs > 1) await pause(waitMs)
    working.push(work(n))
  }
  await Promise.all(working)
}
