import { Server } from 'node:http'

/**
 * The server that Next is given in place of ours. On the one that it gets, Next listens for upgrades, and it neither
 * answers nor closes those that it does not know. A server without a listener treats them as ordinary requests
 * (RFC 9110, 7.8: a server may ignore Upgrade), so they pass the front door and its deadlines.
 */
export function upgradesForNext(server: Server, dev: boolean): Server {
  const upgrades = new Server()
  if (dev) {
    server.on('upgrade', (req, socket, head) => {
      if (req.url?.startsWith('/_next/hmr')) upgrades.emit('upgrade', req, socket, head)
      else socket.destroy()
    })
  }
  return upgrades
}
