import type { z } from 'zod'
import { text, url } from './fields.ts'

export const tlsSettings = {
  TLS_CERT_FILE: {
    description:
      'Certificate chain in PEM. With this and TLS_KEY_FILE, Sluice serves HTTPS on PORT itself. A renewed certificate is loaded within a minute.',
    example: '/etc/letsencrypt/live/sluice.example.com/fullchain.pem',
    schema: text,
  },
  TLS_KEY_FILE: {
    description: "The certificate's key, in PEM, without a passphrase.",
    example: '/etc/letsencrypt/live/sluice.example.com/privkey.pem',
    schema: text,
  },
  ACME_DIRECTORY: {
    description:
      'Directory address of a certificate authority with ACME. With this and TLS_CERT_FILE, Sluice gets and renews a certificate for each verified host name of a workspace, and accepts the terms of service of the authority. Port 443 of these names must reach this server.',
    example: 'https://acme-v02.api.letsencrypt.org/directory',
    schema: url(['https:'], 'an https address'),
  },
}

type Parsed = { [Name in keyof typeof tlsSettings]?: z.output<(typeof tlsSettings)[Name]['schema']> }

/** A certificate chain and its key, both in PEM. */
export type CertificateFiles = { certFile: string; keyFile: string }

export function certificateFiles({ TLS_CERT_FILE, TLS_KEY_FILE }: Parsed): CertificateFiles | undefined {
  return TLS_CERT_FILE && TLS_KEY_FILE ? { certFile: TLS_CERT_FILE, keyFile: TLS_KEY_FILE } : undefined
}

/** Reads the environment, because `parsed` is empty if any setting is invalid. */
export function faultsOfTls({
  TLS_CERT_FILE,
  TLS_KEY_FILE,
  ACME_DIRECTORY,
  ...env
}: Record<string, string | undefined>): string[] {
  if (!TLS_CERT_FILE && !TLS_KEY_FILE)
    return ACME_DIRECTORY
      ? ['ACME_DIRECTORY needs TLS_CERT_FILE and TLS_KEY_FILE, with which Sluice serves HTTPS']
      : []
  if (!TLS_CERT_FILE || !TLS_KEY_FILE)
    return ['TLS_CERT_FILE and TLS_KEY_FILE go together: set both or neither']
  return ['BASE_URL', 'UPLOAD_URL']
    .filter((name) => env[name]?.startsWith('http:'))
    .map(
      (name) => `${name} must start with https:// with TLS_CERT_FILE, because plain HTTP is not served then`,
    )
}
