import { isSluiceError } from '../kernel/errors.ts'

type NetworkFault = 'dns' | 'connect' | 'tls' | 'timeout' | 'blocked' | 'status'

/** The reason why there is no response, with the class and the message that the delivery log shows. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError'
  readonly fault: NetworkFault

  constructor(fault: NetworkFault, message: string, cause?: unknown) {
    super(message, { cause })
    this.fault = fault
  }
}

const CLOSED = 'The connection was closed without a response.'
const NETWORK: Record<string, string> = {
  ECONNRESET: CLOSED,
  EPIPE: CLOSED,
  ECONNABORTED: CLOSED,
  ECONNREFUSED: 'The connection was refused.',
  EHOSTUNREACH: 'The host cannot be reached.',
  ENETUNREACH: 'The network cannot be reached.',
}
/** Error codes from `getaddrinfo` and the name servers. */
const DNS = /^(ENOTFOUND|EAI_.+|ENODATA|ESERVFAIL|EREFUSED|EBADRESP|EFORMERR|ENONAME|EBADNAME|ENOTIMP)$/

export function readFault(error: unknown, limits: { headerBytes: number }): NetworkError {
  if (error instanceof NetworkError) return error
  if (isSluiceError(error)) return new NetworkError('blocked', error.message, error)
  const { code = '', syscall, message } = error as NodeJS.ErrnoException
  const because = (fault: NetworkFault, words: string) => new NetworkError(fault, words, error)
  if (DNS.test(code)) return because('dns', `The host name does not resolve (${code}).`)
  // An unresponsive name server causes ETIMEOUT; an unresponsive host, ETIMEDOUT.
  if (code === 'ETIMEOUT' || syscall?.startsWith('query'))
    return because('dns', `The name servers are not responding (${code}).`)
  if (code === 'ETIMEDOUT') return because('timeout', 'The host is not responding.')
  if (code === 'HPE_HEADER_OVERFLOW') {
    return because('status', `The response headers are larger than ${limits.headerBytes / 1024} KiB.`)
  }
  if (code.startsWith('HPE_')) return because('status', `The response is not HTTP (${code}).`)
  if (isTls(code)) return because('tls', `${tlsWords(code, message)}`)
  return because('connect', NETWORK[code] ?? `The connection failed (${code || 'unknown'}).`)
}

function isTls(code: string): boolean {
  return /^(ERR_SSL|ERR_TLS|EPROTO|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|ERROR_IN_CERT|HOSTNAME_MISMATCH|INVALID_CA|OUT_OF_MEM|PATH_LENGTH)/.test(
    code,
  )
}

function tlsWords(code: string, message: string): string {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return "The server's certificate is for another host name."
  if (code === 'CERT_HAS_EXPIRED') return "The server's certificate has expired."
  if (/SELF_SIGNED/.test(code)) return "The server's certificate is self-signed."
  if (/^UNABLE_TO_/.test(code))
    return "The server's certificate cannot be verified: an intermediate certificate is missing, or its issuer is unknown."
  return `TLS failed: ${message.replace(/^.*?:error:/, '').slice(0, 200)}`
}
