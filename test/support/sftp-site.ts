import ssh2, { type ConnectConfig, type FileEntry, type OpenMode, type SFTPWrapper, type Stats } from 'ssh2'
import type { DatabaseHandle } from '#lib/platform/db/database.ts'
import { startSftpServer } from '#lib/sftp/sftp-server.ts'
import type { SftpTerms } from '#lib/sftp/terms.ts'
import type { UploadTerms } from '#lib/uploads/rules/upload-terms.ts'
import { drainUploads } from '#lib/uploads/upload-context.ts'
import { openUploads } from '#server/open-uploads.ts'
import { folderSite } from './folder-site.ts'
import { QUICK_RETRIES_MS } from './runtime.ts'
import { createSite, type SiteOptions } from './upload-site.ts'

export type SftpOptions = { terms?: Partial<SftpTerms>; uploads?: Partial<UploadTerms>; trusts?: boolean }

/** Starts a node that accepts SFTP uploads, in the test's own process. */
export async function serveSftp(
  runtime: Parameters<typeof openUploads>[0],
  { terms, uploads, trusts = false }: SftpOptions = {},
) {
  const context = await openUploads(runtime, {
    ...(uploads && { terms: uploads }),
    bucket: { retryDelaysMs: QUICK_RETRIES_MS },
  })
  const where = { port: 0, host: '127.0.0.1', trusts: () => trusts, ...(terms && { terms }) }
  const server = await startSftpServer(runtime, context, where)
  return {
    port: server.port,
    context,
    async close() {
      await Promise.all([server.stop(), drainUploads(context)])
    },
  }
}

export async function openSftpSite(
  database: DatabaseHandle,
  options: SftpOptions & { site?: SiteOptions } = {},
) {
  const site = await createSite(database, { pipe: { source: { http: true, sftp: true } }, ...options.site })
  return folderSite(database, site, await serveSftp(site.runtime, options))
}

export type SftpSite = Awaited<ReturnType<typeof openSftpSite>>

const called = <Result>(call: (done: (error: Error | undefined | null, result: Result) => void) => void) =>
  new Promise<Result>((resolve, reject) => call((error, result) => (error ? reject(error) : resolve(result))))

/** The ssh2 client, with promises. */
export async function connectSftp(
  { port, pipe }: Pick<SftpSite, 'port'> & { pipe: { id: string } },
  password: string | undefined,
  config: ConnectConfig = {},
) {
  // The client may report several errors before it closes.
  const client = new ssh2.Client().on('error', () => {})
  const gone = new Promise<void>((resolve) => client.once('close', () => resolve()))
  await new Promise<void>((resolve, reject) => {
    client.once('ready', resolve).once('error', reject)
    client.once('close', () => reject(new Error('The connection was closed.')))
    client.connect({ host: '127.0.0.1', port, username: pipe.id, ...(password && { password }), ...config })
  })
  const sftp = await called<SFTPWrapper>((done) => client.sftp(done))
  const write = (handle: Buffer, bytes: Buffer, position: number) =>
    called<void>((done) => sftp.write(handle, bytes, 0, bytes.length, position, done as () => void))
  const close = (handle: Buffer) => called<void>((done) => sftp.close(handle, done as () => void))
  const open = (path: string, flags: OpenMode) => called<Buffer>((done) => sftp.open(path, flags, done))
  return {
    client,
    sftp,
    gone,
    open,
    write,
    close,
    stat: (path: string) => called<Stats>((done) => sftp.stat(path, done)),
    list: (path: string) => called<FileEntry[]>((done) => sftp.readdir(path, done as () => void)),
    run: (verb: 'mkdir' | 'rmdir' | 'unlink', path: string) =>
      called<void>((done) => sftp[verb](path, done as () => void)),
    rename: (from: string, to: string) => called<void>((done) => sftp.rename(from, to, done as () => void)),
    /** Writes `bytes` starting at an offset, with many pieces in flight at once, like real clients. */
    async writeAll(handle: Buffer, bytes: Buffer, from = 0): Promise<void> {
      // ssh2 splits longer writes, and sends the rest only after the response to the first piece.
      const PIECE = 28 * 1024
      const writes: Promise<void>[] = []
      for (let at = from; at < bytes.length; at += PIECE)
        writes.push(write(handle, bytes.subarray(at, at + PIECE), at))
      await Promise.all(writes)
    },
    async put(path: string, bytes: Buffer): Promise<void> {
      const handle = await open(path, 'w')
      await this.writeAll(handle, bytes)
      await close(handle)
    },
    /** Closes the connection without notice, like a killed client. */
    kill(): Promise<void> {
      ;(client as unknown as { _sock: { destroy(): void } })._sock.destroy()
      return gone
    },
    async end(): Promise<void> {
      client.end()
      await gone
    },
  }
}
