import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { Metrics } from '../platform/metrics.ts'
import type { UploadContext } from '../uploads/upload-context.ts'
import { Admission, type Admitted } from './admission.ts'
import type { Refusals } from './refusals.ts'
import type { FolderTerms } from './terms.ts'

/** Where a server listens. */
export type Listening = {
  port: number
  host: string
  /** Whether an address belongs to a trusted proxy. */
  trusts: (address: string) => boolean
}
export type Accepted = { socket: Socket; admitted: Admitted; address: string }
export type Served = {
  /** Resolves once the socket is closed, the bytes received are stored, and the session is cleaned up. */
  readonly ended: Promise<void>
  /** Closes the connection if it has exceeded a time limit. */
  look(nowMs: number): void
  /** Waits for the bytes received to be durable, and closes the connection. */
  stop(): Promise<void>
  destroy(): void
}

type Options = Listening & {
  terms: FolderTerms
  refusals: Refusals
  gauge: Metrics['sftpConnections']
  open: (accepted: Accepted) => Served
}

const LOOK_EVERY_MS = 1000

/** Accepts the connections of one protocol, limits their number, and ends those that are late. */
export async function serveConnections(
  { clock }: Pick<UploadContext, 'clock'>,
  { port, host, trusts, terms, refusals, gauge, open }: Options,
): Promise<{ port: number; stop(): Promise<void> }> {
  const admission = new Admission(clock, terms)
  const connections = new Set<Served>()
  const accept = (socket: Socket) => {
    const address = plainAddress(socket)
    const isProxy = trusts(address)
    const admitted = admission.admit(address, { isProxy })
    if (typeof admitted === 'string') {
      refusals.count(admitted, address)
      return void socket.destroy()
    }
    const connection = open({ socket, admitted, address })
    connections.add(connection)
    gauge.inc()
    connection.ended.finally(() => {
      connections.delete(connection)
      gauge.dec()
    })
  }
  const server = createServer(accept)
  // Connections beyond this number are dropped before they are passed to `accept`.
  server.maxConnections = terms.connections
  server.on('drop', (dropped) => refusals.count('connections', plainAddress(dropped ?? {})))
  server.listen(port, host)
  await once(server, 'listening')
  const timer = setInterval(() => {
    const nowMs = clock.now()
    for (const connection of connections) connection.look(nowMs)
    refusals.look(nowMs)
  }, LOOK_EVERY_MS)
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      clearInterval(timer)
      server.close()
      const left = [...connections]
      await Promise.all(left.map((connection) => connection.stop()))
      for (const connection of left) connection.destroy()
      await Promise.all(left.map(({ ended }) => ended))
    },
  }
}

export const plainAddress = ({ remoteAddress }: { remoteAddress?: string | undefined }): string =>
  (remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/, '')
