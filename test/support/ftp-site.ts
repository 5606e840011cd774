import { readFileSync } from 'node:fs'
import { createConnection, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { Client } from 'basic-ftp'
import { startFtpServer } from '#lib/ftp/ftp-server.ts'
import type { FtpTerms } from '#lib/ftp/terms.ts'
import type { DatabaseHandle } from '#lib/platform/db/database.ts'
import type { UploadTerms } from '#lib/uploads/rules/upload-terms.ts'
import { drainUploads } from '#lib/uploads/upload-context.ts'
import { openUploads } from '#server/open-uploads.ts'
import { CERTIFICATE } from './certificates.ts'
import { folderSite } from './folder-site.ts'
import { QUICK_RETRIES_MS } from './runtime.ts'
import { createSite, type SiteOptions } from './upload-site.ts'

type FtpOptions = { terms?: Partial<FtpTerms>; uploads?: Partial<UploadTerms>; host?: string }

/** Starts a node that accepts FTP uploads, in the test's own process. */
export async function serveFtp(
  runtime: Parameters<typeof openUploads>[0] & Parameters<typeof startFtpServer>[0],
  { terms, uploads, host = '127.0.0.1' }: FtpOptions = {},
) {
  const context = await openUploads(runtime, {
    ...(uploads && { terms: uploads }),
    bucket: { retryDelaysMs: QUICK_RETRIES_MS },
  })
  const pair = { cert: readFileSync(CERTIFICATE.cert), key: readFileSync(CERTIFICATE.key) }
  const where = { port: 0, host, trusts: () => false, passivePorts: runtime.config.ftp?.passivePorts }
  const options = { ...where, certificate: () => pair, terms: { settleMs: 50, ...terms } }
  const server = await startFtpServer(runtime, context, options)
  return {
    port: server.port,
    context,
    async close() {
      await Promise.all([server.stop(), drainUploads(context)])
    },
  }
}

/** A Pipe that accepts FTP over TLS, and unencrypted FTP if `plain` is set. */
export async function openFtpSite(
  database: DatabaseHandle,
  options: FtpOptions & { site?: SiteOptions; plain?: boolean; active?: boolean } = {},
) {
  const { plain = false, active = false } = options
  const settings = {
    FTP_PORT: '0',
    FTP_PLAIN: plain ? '1' : '0',
    FTP_ACTIVE: active ? '1' : '0',
    TLS_CERT_FILE: CERTIFICATE.cert,
    TLS_KEY_FILE: CERTIFICATE.key,
    BASE_URL: 'https://localhost:3000',
  }
  const pipe = { source: { http: true, ftps: true, ftp: plain } }
  const site = await createSite(database, { pipe, settings, ...options.site })
  return folderSite(database, site, await serveFtp(site.runtime, options))
}

export type FtpSite = Awaited<ReturnType<typeof openFtpSite>>
type Where = { host?: string; port: number; pipe: { id: string } }

/** The client of the npm package basic-ftp, signed in. */
export async function connectFtp(
  { host = '127.0.0.1', port, pipe }: Where,
  password: string,
  { secure = true }: { secure?: boolean } = {},
): Promise<Client> {
  const client = new Client(10_000)
  await client.access({
    host,
    port,
    user: pipe.id,
    password,
    secure,
    secureOptions: { rejectUnauthorized: false },
  })
  return client
}

export const put = (client: Client, path: string, bytes: Buffer) =>
  client.uploadFrom(Readable.from([bytes]), path)

export const speakFtp = (port: number, localAddress = '127.0.0.1') =>
  speakOver(createConnection({ port, host: '127.0.0.1', localAddress }))

/** A control connection for commands that no client would send. */
export function speakOver(socket: Socket) {
  socket.on('error', () => {})
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  let received = ''
  let arrived = Promise.withResolvers<void>()
  socket.on('data', (data) => {
    received += data.toString()
    arrived.resolve()
    arrived = Promise.withResolvers()
  })
  return {
    socket,
    closed,
    /** Sends a command, if any, and resolves with the next reply. */
    async say(command?: string): Promise<string> {
      if (command !== undefined) socket.write(`${command}\r\n`)
      for (;;) {
        const reply = received.match(/^(?:\d{3}-[\s\S]*?\r\n)?\d{3} .*\r\n/m)?.[0]
        if (reply) {
          received = received.slice(received.indexOf(reply) + reply.length)
          return reply.trim()
        }
        await Promise.race([arrived.promise, closed.then(() => Promise.reject(new Error('closed')))])
      }
    },
  }
}
