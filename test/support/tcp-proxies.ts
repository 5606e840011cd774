import { EventEmitter, once } from 'node:events'
import {
  createServer as createHttpServer,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from './random.ts'

/**
 * Couples the two ends of a proxied connection: when one closes, so does the other. `sockets` contains them while they
 * are open.
 */
export function coupleSockets(sockets: Set<Socket>, near: Socket, far: Socket): void {
  for (const [socket, other] of [
    [near, far],
    [far, near],
  ] as const) {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      other.destroy()
    })
  }
}

type LineOptions = {
  toPort: number
  /** How fast each client may send; unlimited if omitted. */
  bytesPerSecond?: number
}

/** A TCP proxy to a port on this machine. It can close as if the server were down, and come back on the same port. */
export type BreakableLine = Awaited<ReturnType<typeof openBreakableLine>>

export async function openBreakableLine({ toPort, bytesPerSecond }: LineOptions) {
  const sockets = new Set<Socket>()
  const counts = { bytes: 0 }
  const progress = new EventEmitter<{ bytes: [] }>()
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port: toPort, host: '127.0.0.1', noDelay: true })
    coupleSockets(sockets, near, far)
    far.pipe(near)
    void carry(near, far)
  })
  const carry = async (near: Socket, far: Socket) => {
    try {
      for await (const bytes of near as AsyncIterable<Buffer>) {
        counts.bytes += bytes.length
        progress.emit('bytes')
        if (!far.write(bytes)) await once(far, 'drain')
        if (bytesPerSecond) await sleep(Math.max(1, (bytes.length / bytesPerSecond) * 1000))
      }
      far.end()
    } catch {
      far.destroy()
    }
  }
  const open = async (port: number) => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  const away = async () => {
    for (const socket of sockets) socket.resetAndDestroy()
    await new Promise((resolve) => server.close(resolve))
  }
  await open(0)
  const { port } = server.address() as AddressInfo
  return { port, counts, progress, away, back: () => open(port), close: away }
}

/**
 * A proxy between a browser and Sluice that stalls uploads after a given number of bytes, until the connections are
 * cut. A browser's own offline mode does not affect requests in progress. Each request has its own connection, because
 * browsers automatically repeat a request that fails on a reused connection.
 */
export async function openHeldLine(to: { hostname: string; port: string }) {
  const clients = new Set<Socket>()
  let mayPassBytes = Number.POSITIVE_INFINITY
  let held = Promise.withResolvers<void>()
  let away = false

  function pass(req: IncomingMessage, res: ServerResponse): void {
    const { method, url, headers } = req
    const onward = request({ host: to.hostname, port: to.port, method, path: url, headers })
    let leftBytes = mayPassBytes
    req.on('data', (chunk: Buffer) => {
      leftBytes -= chunk.length
      if (leftBytes > 0) return void onward.write(chunk)
      req.pause()
      // Resolve only once the chunk has left this process: a cut drops unsent bytes.
      onward.write(chunk, () => held.resolve())
    })
    req.once('end', () => onward.end())
    res.once('close', () => onward.destroy())
    onward.once('error', () => res.destroy())
    onward.once('response', (answer) => {
      res.writeHead(answer.statusCode!, { ...answer.headers, connection: 'close' })
      answer.pipe(res)
    })
  }

  const server = createHttpServer(pass)
  server.on('connection', (socket) => {
    if (away) return void socket.resetAndDestroy()
    clients.add(socket)
    socket.once('close', () => clients.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    /** Limits how many bytes each of the next requests may send; resolves when one of them stalls. */
    holdAfter(bytes: number): Promise<void> {
      mayPassBytes = bytes
      held = Promise.withResolvers()
      return held.promise
    },
    flow() {
      mayPassBytes = Number.POSITIVE_INFINITY
    },
    /** Sets whether new connections fail immediately, as if no server were listening. */
    setAway(now: boolean) {
      away = now
    },
    /** Breaks every connection. */
    cut() {
      for (const socket of clients) socket.resetAndDestroy()
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/**
 * A proxy in front of a database that can simulate silence, where connections stay open but no bytes pass, or an
 * outage.
 */
export async function openPausingProxy(databaseUrl: string) {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let paused = false
  let away = false
  const server = createServer((near) => {
    if (away) return void near.destroy()
    const far = connect(Number(target.port), target.hostname)
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      socket.on('data', (bytes) => void other.write(bytes))
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      if (paused) socket.pause()
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    pause() {
      paused = true
      for (const socket of sockets) socket.pause()
    },
    resume() {
      paused = false
      for (const socket of sockets) socket.resume()
    },
    /** Starts or ends an outage, during which every existing and new connection is broken. */
    setAway(now: boolean) {
      away = now
      if (away) for (const socket of sockets) socket.destroy()
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/**
 * A proxy that simulates a database in trouble: its responses are late, or every nth connection breaks as it is opened.
 */
export async function openTroubledLine(databaseUrl: string) {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let trouble: { lateMs?: number; breakEvery?: number } = {}
  let made = 0
  const server = createServer((near) => {
    if (trouble.breakEvery && ++made % trouble.breakEvery === 0) return void near.resetAndDestroy()
    const far = connect(Number(target.port), target.hostname)
    let dueMs = 0
    near.on('data', (bytes: Buffer) => void far.write(bytes))
    far.on('data', (bytes: Buffer) => {
      const nowMs = performance.now()
      dueMs = Math.max(dueMs, nowMs + (trouble.lateMs ?? 0))
      setTimeout(() => near.writable && near.write(bytes), dueMs - nowMs)
    })
    coupleSockets(sockets, near, far)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(databaseUrl)
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    make(given: typeof trouble) {
      trouble = given
    },
    /** Closes all existing connections. */
    cutAll() {
      for (const socket of sockets) socket.destroy()
    },
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

type CutOptions = {
  /** The number of connections to cut; later ones are not cut. */
  cuts: number
  /** The maximum number of client bytes after which a connection is cut. */
  withinBytes: number
  random: Random
}

/**
 * A proxy that breaks connections after a random number of bytes, in both directions at once. Requests in progress get
 * no response.
 */
export async function openCuttingProxy({ cuts, withinBytes, random }: CutOptions) {
  const sockets = new Set<Socket>()
  const counts = { cuts: 0, bytes: 0 }
  let targetPort = 0
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port: targetPort, host: '127.0.0.1', noDelay: true })
    let left = random.whole(1, withinBytes)
    coupleSockets(sockets, near, far)
    far.pipe(near)
    near.on('data', (bytes) => {
      const living = counts.cuts >= cuts
      const passed = living ? bytes : bytes.subarray(0, left)
      left -= passed.length
      counts.bytes += passed.length
      if (!far.write(passed)) {
        near.pause()
        far.once('drain', () => near.resume())
      }
      if (living || left > 0) return
      counts.cuts += 1
      near.resetAndDestroy()
      far.destroy()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    counts,
    leadTo(port: number) {
      targetPort = port
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
