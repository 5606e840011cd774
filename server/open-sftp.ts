import type { Runtime } from '../lib/platform/runtime.ts'
import type { UploadContext } from '../lib/uploads/upload-context.ts'
import { proxyTrust } from './http/trusted-proxies.ts'
import type { Part } from './stop-on-signal.ts'

/** Starts the SFTP server. Its module, with ssh2, is only loaded if a port is set. */
export async function openSftp(runtime: Runtime, uploads: UploadContext, port: number): Promise<Part> {
  const { config, log } = runtime
  const { startSftpServer } = await import('../lib/sftp/sftp-server.ts')
  const trusts = proxyTrust(config.trustedProxies)
  const server = await startSftpServer(runtime, uploads, { port, host: config.host, trusts })
  log.info({ port: server.port }, 'sftp: listening')
  return server
}
