import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { coupleSockets } from './couple-sockets.ts'
import type { Random } from './random.ts'

type Options = {
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
export async function openCuttingProxy({ cuts, withinBytes, random }: Options) {
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
