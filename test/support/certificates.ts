import { join } from 'node:path'

/** Paths of two PEM files. The certificate is self-signed. */
export type Certificate = { cert: string; key: string }

const folder = join(import.meta.dirname, 'certificates')
const certificate = (name: string): Certificate => ({
  cert: join(folder, `${name}.crt`),
  key: join(folder, `${name}.key`),
})

/** Valid for 127.0.0.1 and localhost until 2126, with a typical modern key. Its subject is the name of its files. */
export const CERTIFICATE = certificate('localhost')
export const RENEWED_CERTIFICATE = certificate('renewed')
