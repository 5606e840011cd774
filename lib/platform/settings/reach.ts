import type { Config } from './config.ts'

/**
 * Who can reach this server. If only this machine can, private addresses are allowed automatically. Otherwise its
 * customers are untrusted, and their addresses must not lead into the operator's network unless the operator allows
 * it.
 */
type Reach = Pick<Config, 'host' | 'baseUrl' | 'uploadUrl' | 'trustedProxies'>

/** HOST alone does not show this: behind a proxy on the same machine, it is a loopback address, too. */
export function isForThisMachineAlone({ host, baseUrl, uploadUrl, trustedProxies }: Reach): boolean {
  const hosts = [host, hostOf(baseUrl), hostOf(uploadUrl)]
  return trustedProxies.length === 0 && hosts.every(isLoopback)
}

export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, '$1')
  return /^127(\.\d{1,3}){3}$/.test(name) || name === '::1' || /^(.+\.)?localhost$/.test(name)
}

const hostOf = (address: string) => new URL(address).hostname

type Risk = { applies(config: Config): boolean; warning: string }

/** Settings that are valid, but whose combination is seldom intended. Each is reported once at startup. */
export const RISKS: Record<string, Risk> = {
  privateHosts: {
    applies: ({ allowedPrivateHosts }) => allowedPrivateHosts.includes('*'),
    warning:
      'ALLOWED_PRIVATE_HOSTS=* lets every customer reach private addresses in your network. List the hosts instead, such as minio.internal:9000.',
  },
  signUpWithoutMail: {
    applies: ({ signUp, smtpUrl }) => signUp === 'open' && !smtpUrl,
    warning:
      'Anyone can sign up, but addresses cannot be verified without SMTP_URL. Set SMTP_URL, or SIGN_UP=closed.',
  },
  demo: {
    applies: ({ demo }) => demo,
    warning:
      'The demo workspace is on an address that others can reach, and anyone can upload to the bucket on this machine. Set DEMO=0.',
  },
  plainHttp: {
    applies: ({ baseUrl, uploadUrl }) =>
      [baseUrl, uploadUrl].some((address) => address.startsWith('http:') && !isLoopback(hostOf(address))),
    warning:
      'BASE_URL or UPLOAD_URL starts with http://, so passwords, tokens and files cross the network unencrypted. Use https://.',
  },
  everybodyIsProxy: {
    applies: ({ trustedProxies }) => trustedProxies.some((network) => network.endsWith('/0')),
    warning:
      'TRUSTED_PROXIES covers every address, so any client can claim a different address, and per-address limits do not work. List only your proxies.',
  },
}

/** Empty if nobody else can reach this server. */
export function risksOf(config: Config): string[] {
  if (isForThisMachineAlone(config)) return []
  return Object.values(RISKS)
    .filter(({ applies }) => applies(config))
    .map(({ warning }) => warning)
}
