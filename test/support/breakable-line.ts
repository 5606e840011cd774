import { EventEmitter, once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { coupleSockets } from './couple-sockets.ts'

type Options = {
  toPort: number
  /** How fast each client may send; unlimited if omitted. */
  bytesPerSecond?: number
}

/** A TCP proxy to a port on this machine. It can close as if the server were down, and come back on the same port. */
export type BreakableLine = Awaited<ReturnType<typeof openBreakableLine>>

export async function openBreakableLine({ toPort, bytesPerSecond }: Options) {
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
