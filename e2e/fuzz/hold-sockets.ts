import { connect, type Socket } from 'node:net'

/**
 * Connections that send part of a message and then nothing, or a byte from time to time. The server must close all of
 * them.
 */
export type Held = { count: number; openAfter(ms: number): Promise<string[]> }

const OF_EACH = 5
const DRIP_MS = 1000

export function holdSockets({ hostname, port, host }: URL, uploadPath: string): Held {
  const head = (line: string, more = '') => `${line} HTTP/1.1\r\nHost: ${host}\r\n${more}`
  const body = 'Content-Length: 1000\r\n\r\n.'
  const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
  const begun: Record<string, string> = {
    nothing: '',
    'half a head': head('GET /login', 'X-Slow: '),
    'half a body to a page': head('POST /login', body),
    'half a body to a probe': head('POST /healthz', body),
    'half a body to the API': head('POST /api/v1/tokens', body),
    'half a body for another host': `POST / HTTP/1.1\r\nHost: evil.example\r\n${body}`,
    'half a body to an upload': head(`PATCH ${uploadPath}`, body),
    'an upgrade of a page': head('GET /login', upgrade),
    'an upgrade of a probe': head('GET /healthz', upgrade),
    'an upgrade of a missing page': head('GET /nowhere', upgrade),
    'a complete request, then silence': head('GET /healthz', '\r\n'),
  }
  const open = new Map<Socket, string>()
  for (const [name, text] of Object.entries(begun)) {
    for (let n = 0; n < OF_EACH; n++) {
      const socket = connect(Number(port), hostname)
      open.set(socket, name)
      socket.on('error', () => {}).on('close', () => open.delete(socket))
      socket.resume().write(text)
      const drips = n % 2 === 0 && name.startsWith('half') && !name.endsWith('upload')
      if (drips) drip(socket)
    }
  }
  const { size: count } = open
  return {
    count,
    async openAfter(ms) {
      const allClosed = Promise.all(
        [...open.keys()].map((socket) => new Promise((done) => socket.once('close', done))),
      )
      let timer: NodeJS.Timeout | undefined
      await Promise.race([allClosed, new Promise((late) => (timer = setTimeout(late, ms)))])
      clearTimeout(timer)
      const left = [...open.values()]
      for (const socket of open.keys()) socket.destroy()
      return left
    },
  }
}

function drip(socket: Socket): void {
  const timer = setInterval(() => socket.write('.'), DRIP_MS)
  socket.once('close', () => clearInterval(timer))
}
