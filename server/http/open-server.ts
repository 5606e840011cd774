import { readFileSync, watchFile } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createSecureContext } from 'node:tls'
import { seconds } from '../../lib/platform/kernel/clock.ts'
import { StartError } from '../../lib/platform/kernel/errors.ts'
import type { Logger } from '../../lib/platform/log/log.ts'
import type { CertificateFiles } from '../../lib/platform/settings/config.ts'
import { SERVER_OPTIONS } from './server-options.ts'

type Options = { tls: CertificateFiles | undefined; log: Logger; checkEveryMs?: number }

/** A client that never finishes its handshake would hold its connection. */
const TLS_OPTIONS = { ...SERVER_OPTIONS, handshakeTimeout: seconds(30) }

/** Speaks TLS if there is a certificate, and takes up a renewed one without a restart. */
export function openServer(
  listener: RequestListener,
  { tls, log, checkEveryMs = seconds(30) }: Options,
): Server {
  if (!tls) return createServer(SERVER_OPTIONS, listener)
  const server = createTlsServer({ ...TLS_OPTIONS, ...readCertificate(tls) }, listener)
  const renew = () => {
    try {
      // With the same ticket keys, the sessions of clients can still be resumed.
      server.setSecureContext({ ...readCertificate(tls), ticketKeys: server.getTicketKeys() })
      log.info({ file: tls.certFile }, 'took up the renewed certificate')
    } catch (err) {
      // Between the writing of one file and of the other they do not match; the other brings another attempt.
      log.warn({ err }, 'kept the certificate in use: the renewed one cannot be used')
    }
  }
  for (const file of [tls.certFile, tls.keyFile])
    watchFile(file, { interval: checkEveryMs, persistent: false }, renew)
  return server
}

function readCertificate({ certFile, keyFile }: CertificateFiles): { cert: Buffer; key: Buffer } {
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
