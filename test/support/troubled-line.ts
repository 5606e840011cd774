import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { coupleSockets } from './couple-sockets.ts'

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
