import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import ssh2, { type ServerConfig } from 'ssh2'
import { seconds } from '../platform/kernel/clock.ts'
import type { Runtime } from '../platform/runtime.ts'
import { createTurns } from '../platform/turns.ts'
import type { UploadContext } from '../uploads/upload-context.ts'
import { Admission } from './admission.ts'
import { Connection, type ConnectionDeps } from './connection.ts'
import { openHostKey } from './host-key.ts'
import { Refusals } from './refusals.ts'
import { SFTP_TERMS, type SftpTerms } from './terms.ts'

/** Excludes SHA-1, CBC, compression, and finite-field key exchange, which costs a hundred times as much. */
const ALGORITHMS: ServerConfig['algorithms'] = {
  kex: [
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'ecdh-sha2-nistp521',
  ],
  cipher: ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'aes128-ctr', 'aes192-ctr', 'aes256-ctr'],
  hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com', 'hmac-sha2-256', 'hmac-sha2-512'],
  compress: ['none'],
}
const LOOK_EVERY_MS = 1000
/**
 * Sluice has its own limits for idle connections, and a client whose connection is paused cannot respond to keepalives,
 * so ssh2 waits 20 minutes for a response before it ends a connection.
 */
const KEEPALIVE = { keepaliveInterval: seconds(30), keepaliveCountMax: 40 }

type Options = {
  port: number
  host: string
  /** Whether an address belongs to a trusted proxy. */
  trusts: (address: string) => boolean
  terms?: Partial<SftpTerms>
}

/**
 * Serves SFTP uploads on a separate port. The server accepts connections itself and passes them to ssh2, so that it
 * controls how many there are and how much is read from each of them.
 */
export async function startSftpServer(
  { db, vault, log, config }: Pick<Runtime, 'db' | 'vault' | 'log' | 'config'>,
  context: UploadContext,
  { port, host, trusts, terms: some }: Options,
): Promise<{ port: number; stop(): Promise<void> }> {
  const terms = { ...SFTP_TERMS, ...some }
  const allAhead = { bytes: 0, mostBytes: terms.allAheadBytes }
  const refusals = new Refusals(context)
  const turns = createTurns(terms.lookups)
  const deps: ConnectionDeps = { context, config, log, terms, allAhead, refusals, turns }
  const admission = new Admission(context.clock, terms)
  const hostKeys = [await openHostKey({ db, vault })]
  const ssh = new ssh2.Server({ hostKeys, algorithms: ALGORITHMS, ident: 'Sluice', ...KEEPALIVE })
  const open = new Set<Connection>()
  const bySocket = new WeakMap<Socket, Connection>()
  const accept = (socket: Socket) => {
    const address = plainAddress(socket)
    const isProxy = trusts(address)
    const admitted = admission.admit(address, { isProxy })
    if (typeof admitted === 'string') {
      refusals.count(admitted, address)
      return void socket.destroy()
    }
    const connection = new Connection(deps, { socket, admitted, address })
    open.add(connection)
    bySocket.set(socket, connection)
    context.metrics.sftpConnections.inc()
    connection.ended.finally(() => {
      open.delete(connection)
      context.metrics.sftpConnections.dec()
    })
    ssh.injectSocket(socket)
  }
  ssh.on('connection', (client) => bySocket.get(socketOf(client))?.begin(client))
  const server = createServer(accept)
  // Connections beyond this number are dropped before they are passed to `accept`.
  server.maxConnections = terms.connections
  server.on('drop', (dropped) => refusals.count('connections', plainAddress(dropped ?? {})))
  server.listen(port, host)
  await once(server, 'listening')
  const timer = setInterval(() => {
    const nowMs = context.clock.now()
    for (const connection of open) connection.look(nowMs)
    refusals.look(nowMs)
  }, LOOK_EVERY_MS)
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      clearInterval(timer)
      server.close()
      const left = [...open]
      await Promise.all(left.map((connection) => connection.stop()))
      for (const connection of left) connection.destroy()
      await Promise.all(left.map(({ ended }) => ended))
    },
  }
}

const plainAddress = ({ remoteAddress }: { remoteAddress?: string | undefined }): string =>
  (remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/, '')

/** ssh2 does not report the socket of a client, so this reads a private field. */
const socketOf = (client: unknown): Socket => (client as { _sock: Socket })._sock
