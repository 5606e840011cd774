import type { Socket } from 'node:net'

/** The two ends of a proxied connection: where one closes, the other goes too. Both are in `sockets` while they are open. */
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
