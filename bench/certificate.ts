import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/** Files. The certificate is its own authority. */
export type Certificate = { key: string; cert: string }

/** For 127.0.0.1, with a key as certificates have today. */
export function makeCertificate(folder: string): Certificate {
  const [key, cert] = [join(folder, 'tls.key'), join(folder, 'tls.crt')]
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
      ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', cert],
    ],
    { stdio: 'ignore' },
  )
  return { key, cert }
}
