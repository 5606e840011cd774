import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type BatchCheckpoint, completeBatches } from '#lib/batches/complete-batches.ts'
import { decisionSweeps } from '#lib/hooks/decide-files.ts'
import { startImportWorker } from '#lib/imports/import-worker.ts'
import type { ImportTerms } from '#lib/imports/run-import.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { startSweeps } from '#lib/platform/sweeps.ts'
import { createUploadHandler } from '#lib/protocols/create-upload-handler.ts'
import { uploadSweeps } from '#lib/recovery/upload-sweeps.ts'
import type { UploadTerms } from '#lib/uploads/rules/upload-terms.ts'
import { type Checkpoint, drainUploads } from '#lib/uploads/upload-context.ts'
import { openUploads } from '#server/open-uploads.ts'
import { QUICK_RETRIES_MS, testRuntime } from './runtime.ts'

/** A node in its own process that serves uploads and runs sweeps, and dies at a given step. */
export type UploadNodeOptions = {
  databaseUrl: string
  port?: number
  killAt?: Checkpoint | BatchCheckpoint | undefined
  terms?: Partial<UploadTerms>
  /** How long a bucket may stay silent before a call to it times out; applies to all calls. */
  bucketSilenceMs?: number
  clockAheadMs?: number
  importTerms?: Partial<ImportTerms>
  /** Whether to accept SFTP uploads as well. */
  sftp?: boolean
}

const options: UploadNodeOptions = JSON.parse(process.argv[2]!)
const { databaseUrl, port = 0, killAt, terms, bucketSilenceMs, clockAheadMs = 0, importTerms } = options
const server = createServer({ requestTimeout: 0 }).listen(port, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const database = openPostgres({ address: databaseUrl })
const clock = { now: () => Date.now() + clockAheadMs, advance() {} }
const runtime = { ...testRuntime(database, { BASE_URL: url, UPLOAD_MEMORY_BYTES: '134217728' }), clock }
const context = await openUploads(runtime, {
  ...(terms && { terms }),
  bucket: { retryDelaysMs: QUICK_RETRIES_MS, ...(bucketSilenceMs && { silenceMs: bucketSilenceMs }) },
  hookRetriesMs: QUICK_RETRIES_MS,
  checkpoint: dieAt,
})
function dieAt(name: Checkpoint | BatchCheckpoint) {
  if (name === killAt) process.kill(process.pid, 'SIGKILL')
}
const handle = createUploadHandler(runtime, context)
server.on('request', (req, res) => void handle(req, res))
const batches = { name: 'batches', everyMs: 200, run: () => completeBatches(runtime, dieAt) }
const sweeps = startSweeps(
  [...uploadSweeps(context), ...decisionSweeps(context), batches].map((sweep) => ({
    ...sweep,
    everyMs: 200,
  })),
  runtime.log,
)
const sftp = options.sftp ? await openSftp() : undefined
const imports = startImportWorker(runtime, context, { lookMs: 100, ...importTerms })
async function openSftp() {
  const { startSftpServer } = await import('#lib/sftp/sftp-server.ts')
  return startSftpServer(runtime, context, { port: 0, host: '127.0.0.1', trusts: () => false })
}

process.on('SIGTERM', async () => {
  await sweeps.stop()
  await imports.stop()
  await Promise.all([sftp?.stop(), drainUploads(context)])
  process.exit(0)
})
if (sftp) process.stdout.write(`sftp ${sftp.port}\n`)
process.stdout.write(`ready ${url}\n`)
