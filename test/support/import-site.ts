import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sql } from 'drizzle-orm'
import { createImports } from '#lib/imports/create-imports.ts'
import { importsInput } from '#lib/imports/import.ts'
import { startImportWorker } from '#lib/imports/import-worker.ts'
import type { ImportTerms } from '#lib/imports/run-import.ts'
import { type Db, rows } from '#lib/platform/db/database.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import type { UploadTerms } from '#lib/uploads/rules/upload-terms.ts'
import { drainUploads } from '#lib/uploads/upload-context.ts'
import { openUploads } from '#server/open-uploads.ts'
import { QUICK_RETRIES_MS } from './runtime.ts'
import type { Site } from './upload-site.ts'

type Answer = (req: IncomingMessage, res: ServerResponse, at: number) => void

/** A server to import files from. It records the headers of its requests. */
export async function openSource(answer: Answer) {
  const requests: IncomingMessage['headers'][] = []
  const server = createServer((req, res) => {
    requests.push(req.headers)
    answer(req, res, requests.length)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The first byte of the requested range if the request names this version in If-Range, otherwise 0. */
export function wantedStart(req: IncomingMessage, validator: string): number {
  const [, from] = /^bytes=(\d+)-$/.exec(req.headers.range ?? '') ?? []
  return from !== undefined && req.headers['if-range'] === validator ? Number(from) : 0
}

/** Responds like a server with range support; closes the connection after a given number of bytes. */
export function sendFile(
  req: IncomingMessage,
  res: ServerResponse,
  { bytes, etag, cutAfter = Infinity }: { bytes: Buffer; etag: string; cutAfter?: number },
): void {
  const from = wantedStart(req, etag)
  const rest = bytes.subarray(from)
  const range = from > 0 && { 'Content-Range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` }
  res.writeHead(from > 0 ? 206 : 200, {
    ETag: etag,
    'Content-Type': 'video/mp4',
    'Content-Length': rest.length,
    ...range,
  })
  if (rest.length <= cutAfter) res.end(rest)
  else res.write(rest.subarray(0, cutAfter), () => setImmediate(() => res.socket?.end()))
}

/** Starts an import worker in the test's own process. */
export async function startImporting(
  { runtime }: Pick<Site, 'runtime'>,
  options: { terms?: Partial<UploadTerms>; importTerms?: Partial<ImportTerms> } = {},
) {
  const context = await openUploads(runtime, {
    terms: options.terms ?? {},
    bucket: { retryDelaysMs: QUICK_RETRIES_MS },
  })
  const worker = startImportWorker(runtime, context, options.importTerms)
  return {
    context,
    async stop() {
      await Promise.all([drainUploads(context), worker.stop()])
    },
  }
}

type Asked = Record<string, unknown> & { url: string }

export async function importOne(
  { runtime, sender, pipe }: Site,
  { url, headers, filename, digest, ...common }: Asked,
): Promise<string> {
  const input = { pipeId: pipe.id, ...common, files: [{ url, headers, filename, digest }] }
  const [id] = await createImports(runtime, sender.token, parseInput(importsInput, input))
  return id!
}

type Row = {
  status: string
  failureReason: string | null
  offsetBytes: number
  lengthBytes: number | null
  filetype: string | null
  failures: number
  lastError: string | null
  isDue: boolean
}

export async function readImportRow(db: Db, id: string): Promise<Row> {
  const [row] = await rows<Row>(
    db,
    sql`select status, failure_reason as "failureReason", offset_bytes as "offsetBytes", length_bytes as "lengthBytes", filetype,
      failures, last_error as "lastError", due_at is not null as "isDue"
    from files join imports on file_id = id where id = ${id}::uuid`,
  )
  return row!
}
