import { z } from 'zod'
import { flag, wholeNumber } from './fields.ts'

const portRange = z
  .string()
  .regex(/^\d+-\d+$/, 'must be two ports, such as 50000-50099')
  .transform((range) => {
    const [from, to] = range.split('-').map(Number) as [number, number]
    return { from, to }
  })
  .refine(({ from, to }) => from > 0 && from <= to && to <= 65_535, 'must be two ports, such as 50000-50099')

export const ftpSettings = {
  FTP_PORT: {
    description:
      'Port for FTP uploads, in processes with the upload role. If this is not set, there is no FTP. 0 picks a free port. FTP over TLS uses the certificate in TLS_CERT_FILE. Also set it for the web role, which shows people what to enter into their devices.',
    example: '2121',
    schema: wholeNumber(0, 65_535),
  },
  FTP_PASSIVE_PORTS: {
    description:
      'Ports for the data connections of FTP clients, which the firewall must let through, and a load balancer must send to the node of the control connection. If this is not set, the system picks free ports.',
    example: '50000-50099',
    schema: portRange,
  },
  FTP_PUBLIC_ADDRESS: {
    description:
      'The IPv4 address of this node for FTP data connections, if clients connect to an address that the node does not have, as behind NAT.',
    example: '203.0.113.10',
    schema: z.ipv4('must be an IPv4 address'),
  },
  FTP_PLAIN: {
    description:
      'Whether to also accept FTP without encryption, for Pipes whose FTP source is on: 0 or 1. Anyone between a device and this server can then read its files and its password.',
    example: '0',
    schema: flag,
  },
  FTP_ACTIVE: {
    description:
      'Whether to also accept active mode, in which this server connects to the device for each transfer, but only to the address of its control connection: 0 or 1. Leave it off if devices share an address with other hosts, as behind NAT.',
    example: '0',
    schema: flag,
  },
}

type Parsed = { [Name in keyof typeof ftpSettings]?: z.output<(typeof ftpSettings)[Name]['schema']> }

export type FtpConfig = {
  port: number
  /** Undefined if the system chooses the ports of data connections. */
  passivePorts: { from: number; to: number } | undefined
  /** The IPv4 address that clients reach this server at, if it differs from the one that they connect to. */
  publicAddress: string | undefined
  /** True if clients may do without encryption. */
  plain: boolean
  /** True if this server connects to clients that ask for it. */
  active: boolean
}

export function readFtp(parsed: Parsed): FtpConfig | undefined {
  if (parsed.FTP_PORT === undefined) return undefined
  return {
    port: parsed.FTP_PORT,
    passivePorts: parsed.FTP_PASSIVE_PORTS,
    publicAddress: parsed.FTP_PUBLIC_ADDRESS,
    plain: parsed.FTP_PLAIN ?? false,
    active: parsed.FTP_ACTIVE ?? false,
  }
}

/** Only processes with the upload role listen, so others need no certificate. */
export function faultsOfFtp({
  ROLES = 'upload',
  FTP_PORT,
  FTP_PLAIN,
  TLS_CERT_FILE,
}: Record<string, string | undefined>): string[] {
  if (!FTP_PORT || !ROLES.includes('upload') || TLS_CERT_FILE || FTP_PLAIN === '1') return []
  return ['FTP_PORT needs TLS_CERT_FILE and TLS_KEY_FILE, or FTP_PLAIN=1 to accept FTP without encryption']
}
