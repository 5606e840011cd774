import { readFileSync, watchFile } from 'node:fs'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  Server,
  type ServerResponse,
  setMaxIdleHTTPParsers,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { Server as NetServer } from 'node:net'
import { createSecureContext, type TlsOptions } from 'node:tls'
import { seconds } from '../../lib/platform/kernel/clock.ts'
import { StartError } from '../../lib/platform/kernel/errors.ts'
import type { Logger } from '../../lib/platform/log/log.ts'
import type { CertificateFiles } from '../../lib/platform/settings/tls-settings.ts'

type Options = {
  tls: CertificateFiles | undefined
  log: Logger
  /** Chooses other certificates for some hosts. */
  choosing?: Pick<TlsOptions, 'SNICallback' | 'ALPNCallback'>
  checkEveryMs?: number
}

/**
 * An upload may take days, so there is no time limit for an entire request; each kind of body has its own limit.
 * Without a limit for requests, Node needs one for headers, or it would wait for them indefinitely.
 */
export const SERVER_OPTIONS = {
  requestTimeout: 0,
  headersTimeout: seconds(30),
  connectionsCheckingInterval: seconds(5),
  keepAliveTimeout: seconds(65),
}

/**
 * Each parser takes 10 KiB. By default, Node keeps 1,000 of them after a burst of connections, scattered over malloc's
 * heap, so that most of the memory between them is not returned to the system either: even 100 parsers hold on to
 * 27 MiB more than four.
 */
const IDLE_PARSERS = 4

/**
 * The timeout is for clients that never finish their handshake. Without TLS, Node itself allows half-open
 * connections.
 */
const TLS_OPTIONS = { ...SERVER_OPTIONS, handshakeTimeout: seconds(30), allowHalfOpen: true }

const CHECK_EVERY_MS = seconds(30)

/** Serves TLS if there is a certificate, and loads a renewed one without a restart. */
export function openServer(listener: RequestListener, { tls, log, choosing, checkEveryMs }: Options): Server {
  setMaxIdleHTTPParsers(IDLE_PARSERS)
  if (!tls) return watchRequests(createServer(SERVER_OPTIONS, listener))
  // With the same ticket keys, clients can still resume their sessions.
  const onRenewed = (pair: Certificate) =>
    server.setSecureContext({ ...pair, ticketKeys: server.getTicketKeys() })
  const certificate = watchCertificate(tls, { log, onRenewed, ...(checkEveryMs && { checkEveryMs }) })
  const server = watchRequests(createTlsServer({ ...TLS_OPTIONS, ...certificate(), ...choosing }, listener))
  return server
}

type Certificate = { cert: Buffer; key: Buffer }
type Watching = { log: Logger; checkEveryMs?: number; onRenewed?: (pair: Certificate) => void }

/** Returns the certificate in use, which changes when its files do. */
export function watchCertificate(
  tls: CertificateFiles,
  { log, checkEveryMs = CHECK_EVERY_MS, onRenewed }: Watching,
): () => Certificate {
  let current = readCertificate(tls)
  const renew = () => {
    try {
      current = readCertificate(tls)
      onRenewed?.(current)
      log.info({ file: tls.certFile }, 'loaded the renewed certificate')
    } catch (err) {
      // The files do not match until both have been written. Writing the second one triggers another attempt.
      log.warn({ err }, 'kept the certificate in use: the renewed one cannot be used')
    }
  }
  for (const file of [tls.certFile, tls.keyFile])
    watchFile(file, { interval: checkEveryMs, persistent: false }, renew)
  return () => current
}

function readCertificate({ certFile, keyFile }: CertificateFiles): Certificate {
  const pair = { cert: read('TLS_CERT_FILE', certFile), key: read('TLS_KEY_FILE', keyFile) }
  try {
    createSecureContext(pair)
  } catch (cause) {
    const { message } = cause as Error
    throw new StartError(
      `TLS_CERT_FILE (${certFile}) and TLS_KEY_FILE (${keyFile}) must be a certificate and its key in PEM, the key without a passphrase: ${message}`,
      { cause },
    )
  }
  return pair
}

function read(name: string, file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (cause) {
    throw new StartError(`${name} cannot be read: ${(cause as Error).message}`, { cause })
  }
}

const watchRequests = <S extends Server>(server: S): S => answerHalfClosed(watchLateBodies(server))

/** How long a stopping server waits for the rest of a body after sending the response. */
const LATE_MS = seconds(1)
const hurries = new WeakMap<Server, (lateMs: number) => void>()

/**
 * A refused client may keep sending slowly after it has received its response. A stopping server must not wait for the
 * rest of such a body. It does not disconnect the client immediately, because the response could be lost.
 */
function watchLateBodies<S extends Server>(server: S): S {
  const late = new Set<IncomingMessage>()
  let endLater: ((req: IncomingMessage) => void) | undefined
  const watch = (req: IncomingMessage, res: ServerResponse) => {
    res.once('finish', () => {
      if (req.complete) return
      late.add(req)
      for (const event of ['end', 'close'] as const) req.once(event, () => late.delete(req))
      endLater?.(req)
    })
  }
  hurries.set(server, (lateMs) => {
    endLater = (req) => void setTimeout(() => late.has(req) && req.socket.destroy(), lateMs).unref()
    late.forEach(endLater)
  })
  return server.on('request', watch).on('checkContinue', watch)
}

/**
 * Refuses new connections immediately, so that balancers use another node. Resolves when no connections are left. A
 * keep-alive connection gets one more response and is then closed: closing it while a request is arriving could break a
 * POST, which clients must not repeat.
 */
export function refuseConnections(server: Server, { lateMs = LATE_MS } = {}): Promise<void> {
  hurries.get(server)?.(lateMs)
  const closeAfter = (_: unknown, res: ServerResponse) => {
    res.shouldKeepAlive = false
  }
  server.prependListener('request', closeAfter).prependListener('checkContinue', closeAfter)
  // The HTTP server's own `close` method would first close idle connections.
  return new Promise((resolve) => NetServer.prototype.close.call(server, () => resolve()))
}

/**
 * The server object passed to Next instead of the real server. Next listens for upgrades on its server, but neither
 * responds to unknown ones nor closes them. A server without such a listener treats upgrades as ordinary requests (RFC
 * 9110, 7.8: a server may ignore Upgrade), so upgrades pass through the front door, with its deadlines.
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

/**
 * A client may close its side of the connection once it has sent its entire request, and still read the response. By
 * default, Node closes the other side immediately, and the response is lost.
 *
 * A client that has left looks the same until something is written to it. That does no harm if the response is finite,
 * and an interrupted request is still detected because bytes are missing. An event stream has no end, so a client that
 * closes its side during one is treated as gone.
 */
export function answerHalfClosed<S extends Server>(server: S): S {
  // Node has had this property since its first versions, but its types do not include it.
  Object.assign(server, { httpAllowHalfOpen: true })
  return server.on('request', endStreamWhenClosed).on('checkContinue', endStreamWhenClosed)
}

function endStreamWhenClosed(req: IncomingMessage, res: ServerResponse): void {
  const { socket } = req
  const endStream = () => {
    if (socket.readableEnded && isStream(res)) res.destroy()
  }
  socket.once('end', endStream)
  res.once('close', () => socket.off('end', endStream))
  // The client may have closed its side before the response turned out to be a stream.
  const writeHead = res.writeHead.bind(res)
  res.writeHead = ((status: number, ...rest: []) => {
    writeHead(status, ...rest)
    endStream()
    return res
  }) as typeof res.writeHead
}

function isStream(res: ServerResponse): boolean {
  return res.headersSent && String(res.getHeader('content-type')).startsWith('text/event-stream')
}
