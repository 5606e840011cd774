import { connect, type Socket } from 'node:net'

/** HTTP/1.1 over a raw socket: it sends exactly what the test specifies, valid or not. */
export type Answer = { status: number; headers: Record<string, string>; body: string }
export type Fields = Record<string, string | number | undefined>

export function requestHead(method: string, url: URL, fields: Fields): string {
  const lines = Object.entries({ Host: url.host, ...fields }).filter(([, value]) => value !== undefined)
  return [
    `${method} ${url.pathname}${url.search} HTTP/1.1`,
    ...lines.map(([name, value]) => `${name}: ${value}`),
    '',
    '',
  ].join('\r\n')
}

/** Sends one request on its own connection. Adds a Content-Length for the body unless the test sets one. */
export async function ask(
  method: string,
  url: URL,
  fields: Fields = {},
  body: string | Uint8Array = '',
): Promise<Answer> {
  const bytes = Buffer.from(body as string)
  const length = method === 'GET' || method === 'HEAD' ? {} : { 'Content-Length': bytes.length }
  await using connection = open(url)
  connection.write(requestHead(method, url, { ...length, Connection: 'close', ...fields }))
  connection.write(bytes)
  return await connection.answer(method)
}

/** Opens a connection that the test controls directly. */
export function open(url: URL, { allowHalfOpen = false } = {}) {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const socket = connect({ port: Number(url.port || 80), host, allowHalfOpen })
  let received: Buffer = Buffer.alloc(0)
  let changed = Promise.withResolvers<void>()
  let ended = false
  const change = () => {
    changed.resolve()
    changed = Promise.withResolvers()
  }
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk])
    change()
  })
  // A server may reject the request and close the connection while the test is still writing.
  socket.on('error', () => {})
  socket.on('close', () => {
    ended = true
    change()
  })
  const until = async (enough: () => boolean) => {
    while (!enough() && !ended) await changed.promise
  }
  return {
    socket,
    write(bytes: string | Uint8Array) {
      if (bytes.length > 0) socket.write(bytes)
    },
    /** Reads the next response, which may be an interim one (1xx). */
    async answer(method: string): Promise<Answer> {
      await until(() => received.includes('\r\n\r\n'))
      const end = received.indexOf('\r\n\r\n')
      if (end < 0) throw new Error(`The connection ended without a response: ${received}`)
      const head = parseHead(received.subarray(0, end).toString('latin1'))
      received = received.subarray(end + 4)
      const bodiless = method === 'HEAD' || head.status < 200 || head.status === 204 || head.status === 304
      if (bodiless) return { ...head, body: '' }
      await until(() => takeBody(head.headers, received, ended) !== undefined)
      const taken = takeBody(head.headers, received, true)!
      received = taken.rest
      return { ...head, body: taken.body.toString() }
    },
    /** Half-closes the connection after everything is written, and waits for the server to close it. */
    async end() {
      socket.end()
      await until(() => false)
    },
    async [Symbol.asyncDispose]() {
      socket.destroy()
      await until(() => false)
    },
  }
}

export type Connection = ReturnType<typeof open>

function parseHead(text: string): Omit<Answer, 'body'> {
  const [first, ...lines] = text.split('\r\n')
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const name = line.slice(0, line.indexOf(':')).toLowerCase()
    const value = line.slice(line.indexOf(':') + 1).trim()
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`
  }
  return { status: Number(first!.split(' ')[1]), headers }
}

/** Resets the connection without closing it properly, as when the network is lost. */
export function cut(socket: Socket): void {
  socket.resetAndDestroy()
}

type Taken = { body: Buffer; rest: Buffer }

/**
 * Returns the body once it has arrived completely, according to the headers. If the connection has ended, returns the
 * part that has arrived.
 */
function takeBody(headers: Record<string, string>, bytes: Buffer, ended: boolean): Taken | undefined {
  if (headers['transfer-encoding'] === 'chunked') return takeChunks(bytes, ended)
  const length = headers['content-length']
  if (length === undefined) return ended ? { body: bytes, rest: Buffer.alloc(0) } : undefined
  if (bytes.length < Number(length) && !ended) return undefined
  return { body: bytes.subarray(0, Number(length)), rest: bytes.subarray(Number(length)) }
}

function takeChunks(bytes: Buffer, ended: boolean): Taken | undefined {
  const chunks: Buffer[] = []
  for (let at = 0; ; ) {
    const line = bytes.indexOf('\r\n', at)
    if (line < 0) return ended ? { body: Buffer.concat(chunks), rest: Buffer.alloc(0) } : undefined
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16)
    const end = line + 2 + size
    if (bytes.length < end + 2 && !ended) return undefined
    if (size === 0) return { body: Buffer.concat(chunks), rest: bytes.subarray(end + 2) }
    chunks.push(bytes.subarray(line + 2, end))
    at = end + 2
  }
}
