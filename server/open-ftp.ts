import type { Runtime } from '../lib/platform/runtime.ts'
import type { FtpConfig } from '../lib/platform/settings/ftp-settings.ts'
import type { UploadContext } from '../lib/uploads/upload-context.ts'
import { watchCertificate } from './http/open-server.ts'
import { proxyTrust } from './http/trusted-proxies.ts'
import type { Part } from './stop-on-signal.ts'

/** Starts the FTP server. Its module is only loaded if a port is set. */
export async function openFtp(
  runtime: Runtime,
  uploads: UploadContext,
  { port, passivePorts }: FtpConfig,
): Promise<Part> {
  const { config, log } = runtime
  const { startFtpServer } = await import('../lib/ftp/ftp-server.ts')
  const certificate = config.tls && watchCertificate(config.tls, { log })
  const trusts = proxyTrust(config.trustedProxies)
  const server = await startFtpServer(runtime, uploads, {
    port,
    host: config.host,
    trusts,
    passivePorts,
    certificate,
  })
  log.info({ port: server.port }, 'ftp: listening')
  return server
}
