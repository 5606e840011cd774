import type { Socket } from 'node:net'
import ssh2, { type ServerConfig } from 'ssh2'
import { Refusals } from '../folders/refusals.ts'
import { type Accepted, type Listening, serveConnections } from '../folders/serve-connections.ts'
import { seconds } from '../platform/kernel/clock.ts'
import type { Runtime } from '../platform/runtime.ts'
import { createTurns } from '../platform/turns.ts'
import type { UploadContext } from '../uploads/upload-context.ts'
import { Connection, type ConnectionDeps } from './connection.ts'
import { openHostKey } from './host-key.ts'
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
/**
 * Sluice has its own limits for idle connections, and a client whose connection is paused cannot respond to keepalives,
 * so ssh2 waits 20 minutes for a response before it ends a connection.
 */
const KEEPALIVE = { keepaliveInterval: seconds(30), keepaliveCountMax: 40 }

type Options = Listening & { terms?: Partial<SftpTerms> }

/**
 * Serves SFTP uploads on a separate port. The server accepts connections itself and passes them to ssh2, so that it
 * controls how many there are and how much is read from each of them.
 */
export async function startSftpServer(
  { db, vault, log, config }: Pick<Runtime, 'db' | 'vault' | 'log' | 'config'>,
  context: UploadContext,
  { terms: some, ...listening }: Options,
): Promise<{ port: number; stop(): Promise<void> }> {
  const terms = { ...SFTP_TERMS, ...some }
  const allAhead = { bytes: 0, mostBytes: terms.allAheadBytes }
  const { sftpRefusals: counter, sftpConnections: gauge } = context.metrics
  const refusals = new Refusals(context, { protocol: 'sftp', counter })
  const turns = createTurns(terms.lookups)
  const deps: ConnectionDeps = { context, config, log, terms, allAhead, refusals, turns }
  const hostKeys = [await openHostKey({ db, vault })]
  const ssh = new ssh2.Server({ hostKeys, algorithms: ALGORITHMS, ident: 'Sluice', ...KEEPALIVE })
  const bySocket = new WeakMap<Socket, Connection>()
  ssh.on('connection', (client) => bySocket.get(socketOf(client))?.begin(client))
  const open = (accepted: Accepted) => {
    const connection = new Connection(deps, accepted)
    bySocket.set(accepted.socket, connection)
    ssh.injectSocket(accepted.socket)
    return connection
  }
  return serveConnections(context, { ...listening, terms, refusals, gauge, open })
}

/** ssh2 does not report the socket of a client, so this reads a private field. */
const socketOf = (client: unknown): Socket => (client as { _sock: Socket })._sock
