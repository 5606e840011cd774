import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'

/**
 * An S3 server that discards bytes, for measuring the servers in front of it. It only stores small objects, which
 * @tus/s3-store needs to read back, and the sizes of parts. It checks nothing but part numbers, so that it uses hardly
 * any CPU time.
 */
type Part = { number: number; bytes: number; etag: string }
type Upload = { parts: Part[]; hasChecksums: boolean }

const objects = new Map<string, { body: Buffer; headers: Record<string, string> }>()
const uploads = new Map<string, Upload>()
const counts: Record<string, number> = {}
let refusals = 0
let nextUpload = 0

const answer = (req: IncomingMessage, res: ServerResponse) => {
  serve(req, res).catch(() => res.destroy())
}
const settings = { keepAliveTimeout: 60_000 }
const { TLS_KEY: key, TLS_CERT: cert } = process.env
const server = (
  key && cert
    ? createTlsServer({ ...settings, key: readFileSync(key), cert: readFileSync(cert) }, answer)
    : createServer(settings, answer)
).listen(0, '127.0.0.1')
server.on('listening', () => process.send!({ port: (server.address() as AddressInfo).port }))
process.on('message', () => process.send!({ counts: { ...counts }, refusals }))

async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const url = new URL(req.url!, 'http://sink')
  const key = url.pathname
  const uploadId = url.searchParams.get('uploadId')
  const partNumber = url.searchParams.get('partNumber')
  const operation = operationOf(req.method!, url)
  counts[operation] = (counts[operation] ?? 0) + 1
  if (operation === 'UploadPart') {
    const bytes = await discard(req)
    const etag = `"${partNumber}-${bytes}"`
    uploads.get(uploadId!)?.parts.push({ number: Number(partNumber), bytes, etag })
    return void res.writeHead(200, { ETag: etag, 'Content-Length': 0 }).end()
  }
  if (operation === 'PutObject') {
    // The peer reads two kinds of objects back: `.info` in full, and `.part`, of which only the size matters.
    const body = key.endsWith('.info') ? await bodyOf(req) : undefined
    const bytes = body ? body.length : await discard(req)
    if (body ?? key.endsWith('.part'))
      objects.set(key, { body: body ?? Buffer.alloc(bytes), headers: metadataOf(req) })
    return void res.writeHead(200, { ETag: '"object"', 'Content-Length': 0 }).end()
  }
  if (operation === 'CompleteMultipartUpload')
    return complete(res, { key, uploadId: uploadId! }, Buffer.concat(await req.toArray()).toString())
  await discard(req)
  if (operation === 'CreateMultipartUpload') {
    const id = `upload-${++nextUpload}`
    uploads.set(id, { parts: [], hasChecksums: 'x-amz-checksum-algorithm' in req.headers })
    return xml(
      res,
      `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
    )
  }
  if (operation === 'ListParts') return listParts(res, uploads.get(uploadId!)?.parts ?? [])
  if (operation === 'GetObject' || operation === 'HeadObject') return read(req, res, key)
  objects.delete(key)
  res.writeHead(204).end()
}

/** Requires, like AWS, that the numbers of parts with checksums start at 1 and have no gaps. */
function complete(
  res: ServerResponse,
  { key, uploadId }: { key: string; uploadId: string },
  body: string,
): void {
  const numbers = [...body.matchAll(/<PartNumber>(\d+)</g)].map(([, number]) => Number(number))
  const hasGap = numbers.some((number, n) => number !== n + 1)
  if (hasGap && uploads.get(uploadId)?.hasChecksums) {
    refusals += 1
    refuse(res, 400, 'InvalidPartOrder')
    return
  }
  uploads.delete(uploadId)
  const named = `<Location>${key}</Location><Key>${key}</Key>`
  xml(res, `<CompleteMultipartUploadResult>${named}<ETag>"whole"</ETag></CompleteMultipartUploadResult>`)
}

function operationOf(method: string, url: URL): string {
  const multipart = url.searchParams.has('uploadId')
  if (method === 'PUT') return url.searchParams.has('partNumber') ? 'UploadPart' : 'PutObject'
  if (method === 'POST') return multipart ? 'CompleteMultipartUpload' : 'CreateMultipartUpload'
  if (method === 'HEAD') return 'HeadObject'
  if (method === 'GET') return multipart ? 'ListParts' : 'GetObject'
  return multipart ? 'AbortMultipartUpload' : 'DeleteObject'
}

function metadataOf(req: IncomingMessage): Record<string, string> {
  const found = Object.entries(req.headers).filter(([name]) => name.startsWith('x-amz-meta-'))
  return Object.fromEntries(found) as Record<string, string>
}

/**
 * Returns the body without the chunks and the checksum in which AWS SDKs wrap it. The Go SDK only does that over TLS.
 */
async function bodyOf(req: IncomingMessage): Promise<Buffer> {
  const sent = Buffer.concat(await req.toArray())
  if (!req.headers['x-amz-decoded-content-length']) return sent
  const chunks: Buffer[] = []
  for (let at = 0; ; ) {
    const start = sent.indexOf('\r\n', at) + 2
    const bytes = Number.parseInt(sent.toString('latin1', at, start), 16)
    if (!bytes) return Buffer.concat(chunks)
    chunks.push(sent.subarray(start, start + bytes))
    at = start + bytes + 2
  }
}

function discard(req: IncomingMessage): Promise<number> {
  return new Promise((resolve, reject) => {
    let bytes = 0
    req.on('data', (chunk: Buffer<ArrayBuffer>) => {
      bytes += chunk.length
      // Frees the memory immediately, since collecting it as garbage would take as long as everything else.
      if (chunk.length === chunk.buffer.byteLength) chunk.buffer.transfer(0)
    })
    // The AWS SDK wraps a stream in chunks followed by a checksum, so the number of bytes received is larger.
    req
      .on('end', () => resolve(Number(req.headers['x-amz-decoded-content-length'] ?? bytes)))
      .on('error', reject)
  })
}

function listParts(res: ServerResponse, parts: Part[]): void {
  const list = [...parts].sort((a, b) => a.number - b.number)
  const items = list.map(
    ({ number, bytes, etag }) =>
      `<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag><Size>${bytes}</Size></Part>`,
  )
  xml(res, `<ListPartsResult><IsTruncated>false</IsTruncated>${items.join('')}</ListPartsResult>`)
}

function read(req: IncomingMessage, res: ServerResponse, key: string): void {
  const object = objects.get(key)
  if (object) {
    const headers = { ...object.headers, ETag: '"object"', 'Content-Length': object.body.length }
    res.writeHead(200, headers).end(req.method === 'HEAD' ? undefined : object.body)
  } else refuse(res, 404, 'NoSuchKey')
}

function xml(res: ServerResponse, text: string): void {
  res
    .writeHead(200, { 'Content-Type': 'application/xml', 'Content-Length': Buffer.byteLength(text) })
    .end(text)
}

function refuse(res: ServerResponse, status: number, code: string): void {
  const text = `<Error><Code>${code}</Code><Message>none</Message></Error>`
  res.writeHead(status, { 'Content-Type': 'application/xml', 'Content-Length': text.length }).end(text)
}
