import type { Socket } from 'node:net'

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
