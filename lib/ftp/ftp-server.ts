import { Refusals } from '../folders/refusals.ts'
import { type Accepted, type Listening, serveConnections } from '../folders/serve-connections.ts'
import type { Runtime } from '../platform/runtime.ts'
import { createTurns } from '../platform/turns.ts'
import type { UploadContext } from '../uploads/upload-context.ts'
import { Connection, type ConnectionDeps } from './connection.ts'
import { PassivePorts, type PortRange } from './passive-ports.ts'
import { FTP_TERMS, type FtpTerms } from './terms.ts'
import type { Certificate } from './tls.ts'

type Options = Listening & {
  passivePorts: PortRange | undefined
  certificate: (() => Certificate) | undefined
  terms?: Partial<FtpTerms>
}

/**
 * Serves uploads over FTP, encrypted (RFC 4217) or not, on a separate port: a way in, so nothing can be read but
 * listings. It writes no bytes itself: files are written as over SFTP. Data connections only come from, and only lead to,
 * the address of their control connection, so the server cannot be made to attack others.
 */
export async function startFtpServer(
  { log, config }: Pick<Runtime, 'log' | 'config'>,
  context: UploadContext,
  { passivePorts: ports, certificate, terms: some, ...listening }: Options,
): Promise<{ port: number; stop(): Promise<void> }> {
  const terms = { ...FTP_TERMS, ...some }
  const allAhead = { bytes: 0, mostBytes: terms.allAheadBytes }
  const { ftpRefusals: counter, ftpConnections: gauge } = context.metrics
  const refusals = new Refusals(context, { protocol: 'ftp', counter })
  const onStranger = (address: string) => refusals.count('data_of_stranger', address)
  const passive = new PassivePorts({ host: listening.host, ports, onStranger })
  const turns = createTurns(terms.lookups)
  const deps: ConnectionDeps = {
    context,
    config,
    log,
    terms,
    allAhead,
    refusals,
    turns,
    passive,
    certificate,
  }
  const open = (accepted: Accepted) => new Connection(deps, accepted)
  return serveConnections(context, { ...listening, terms, refusals, gauge, open })
}
