import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Clock, days } from '#lib/platform/kernel/clock.ts'
import { verifyBody } from './azure-checksums.ts'
import { type Answer, AzureError } from './azure-error.ts'
import { ACCOUNT, authorize, CONTAINER } from './azure-signatures.ts'

/**
 * Azure Blob Storage as far as Sluice uses it, after Microsoft's documentation: it verifies signatures, permissions and
 * checksums, and enforces what sets block blobs apart from S3. `lib/buckets/port-contract.test.ts` runs the same tests
 * against Azurite, if one is named.
 */
type Blob = { bytes: Buffer; headers: Record<string, string>; etag: string; modifiedMs: number }
type Blocks = { ids: Map<string, Buffer>; sentMs: number }

export type SeenRequest = { operation: string; key: string; blockId: string | undefined; status: number }

const MAX_BLOCKS = 50_000
const DROPPED_AFTER_MS = days(7)

export async function startAzureStorage(clock: Clock) {
  const blobs = new Map<string, Blob>()
  const blocks = new Map<string, Blocks>()
  const azure = {
    endpoint: '',
    blobs,
    blocks,
    /** Requests that were responded to, without their queries. */
    seen: [] as SeenRequest[],
    /** Called before each request is processed; may throw an AzureError, or destroy the connection. */
    before: undefined as ((operation: string, request: IncomingMessage) => void | Promise<void>) | undefined,
    /** Called once a request has taken effect, before the response. */
    after: undefined as ((operation: string, request: IncomingMessage) => void | Promise<void>) | undefined,
    maxBlocks: MAX_BLOCKS,
    /** Changes bytes on their way. */
    damage: (body: Buffer): Buffer => body,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  const server = createServer((request, response) => void serve(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  azure.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${ACCOUNT}`

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, 'http://azure')
    const [, account, container, ...name] = url.pathname.split('/')
    // Dots at the end of a name are dropped: https://github.com/Azure/azure-storage-ruby/issues/191
    const key = decodeURIComponent(name.join('/')).replace(/\.+(?=\/|$)/g, '')
    const operation = operationOf(request.method!, url, key)
    let answer: Answer
    try {
      await azure.before?.(operation, request)
      const permission = authorize(request, url, {
        operation,
        account: account!,
        container: container!,
        clock,
      })
      if (container !== CONTAINER) throw new AzureError(404, 'ContainerNotFound')
      const body = azure.damage(Buffer.concat(await request.toArray()))
      verifyBody(request, body)
      answer = perform({
        operation,
        key,
        url,
        headers: request.headers as Record<string, string>,
        body,
        permission,
      })
      await azure.after?.(operation, request)
    } catch (error) {
      if (request.destroyed && !request.complete) return
      if (!(error instanceof AzureError)) throw error
      answer = error.answer
    }
    const blockId = url.searchParams.get('blockid') ?? undefined
    azure.seen.push({ operation, key, blockId, status: answer.status })
    request.resume()
    response.writeHead(answer.status, answer.headers)
    response.end(request.method === 'HEAD' ? undefined : answer.body)
  }

  type Performed = {
    operation: string
    key: string
    url: URL
    headers: Record<string, string>
    body: Buffer
    permission: string
  }
  function perform({ operation, key, url, headers, body, permission }: Performed): Answer {
    const found = blobs.get(key)
    if (operation === 'PutBlob') return putBlob(key, headers, body, permission)
    if (operation === 'PutBlock') return putBlock(key, url.searchParams.get('blockid')!, body)
    if (operation === 'PutBlockList') return commit(key, headers, body, permission)
    if (operation === 'ListBlobs') return { status: 200, body: list(url.searchParams) }
    if (!found) throw new AzureError(404, 'BlobNotFound')
    if (operation === 'DeleteBlob') {
      blobs.delete(key)
      return { status: 202 }
    }
    const [, first = 0, last = found.bytes.length - 1] =
      /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '')?.map(Number) ?? []
    const part = found.bytes.subarray(first, last + 1)
    return {
      status: headers.range ? 206 : 200,
      headers: { etag: found.etag, 'content-length': String(part.length), ...found.headers },
      body: part,
    }
  }

  function putBlob(key: string, headers: Record<string, string>, body: Buffer, permission: string): Answer {
    if (headers['x-ms-blob-type'] !== 'BlockBlob') throw new AzureError(400, 'InvalidHeaderValue')
    return create(key, headers, body, permission)
  }

  function putBlock(key: string, id: string, body: Buffer): Answer {
    if (Buffer.from(id, 'base64').toString('base64') !== id) throw new AzureError(400, 'InvalidBlockId')
    const held = blocksOf(key)
    const [other] = held.ids.keys()
    if (other && other.length !== id.length) throw new AzureError(400, 'InvalidBlobOrBlock')
    if (Buffer.byteLength(Buffer.from(id, 'base64')) > 64) throw new AzureError(400, 'InvalidBlockId')
    held.ids.set(id, body)
    held.sentMs = clock.now()
    blocks.set(key, held)
    return { status: 201 }
  }

  /** Blocks that no blob uses are discarded a week after the last one was sent. */
  function blocksOf(key: string): Blocks {
    const held = blocks.get(key)
    if (held && clock.now() - held.sentMs < DROPPED_AFTER_MS) return held
    return { ids: new Map(), sentMs: clock.now() }
  }

  function commit(key: string, headers: Record<string, string>, body: Buffer, permission: string): Answer {
    const ids = [...body.toString().matchAll(/<Uncommitted>([^<]+)<\/Uncommitted>/g)].map(([, id]) => id!)
    if (ids.length > azure.maxBlocks) throw new AzureError(400, 'BlockListTooLong')
    assertMayCreate(key, headers, permission)
    const { ids: held } = blocksOf(key)
    if (!ids.every((id) => held.has(id)))
      throw new AzureError(400, 'InvalidBlockList', 'The specified block list is invalid.')
    return create(key, headers, Buffer.concat(ids.map((id) => held.get(id)!)), permission)
  }

  /** Discards all blocks that the new blob does not use. */
  function create(key: string, headers: Record<string, string>, bytes: Buffer, permission: string): Answer {
    assertMayCreate(key, headers, permission)
    const etag = `"0x${createHash('sha1').update(`${key} ${clock.now()} ${blobs.size}`).digest('hex').slice(0, 15).toUpperCase()}"`
    blobs.set(key, { bytes, headers: describe(headers, permission), etag, modifiedMs: clock.now() })
    blocks.delete(key)
    return { status: 201, headers: { etag } }
  }

  function assertMayCreate(key: string, headers: Record<string, string>, permission: string): void {
    if (!blobs.has(key)) return
    if (headers['if-none-match'] === '*')
      throw new AzureError(409, 'BlobAlreadyExists', 'The specified blob already exists.')
    if (!permission.includes('w')) throw new AzureError(403, 'UnauthorizedBlobOverwrite')
  }

  function list(query: URLSearchParams): string {
    const from = query.get('marker') ?? ''
    const max = Number(query.get('maxresults'))
    const keys = [...blobs.keys()]
      .filter((key) => key.startsWith(query.get('prefix') ?? '') && key >= from)
      .sort()
    const entries = keys.slice(0, max).map((key) => {
      const { bytes, modifiedMs } = blobs.get(key)!
      const properties = `<Last-Modified>${new Date(modifiedMs).toUTCString()}</Last-Modified><Content-Length>${bytes.length}</Content-Length>`
      return `<Blob><Name>${key.replaceAll('&', '&amp;')}</Name><Properties>${properties}</Properties></Blob>`
    })
    const next = keys[max] === undefined ? '<NextMarker/>' : `<NextMarker>${keys[max]}</NextMarker>`
    return `<?xml version="1.0" encoding="utf-8"?><EnumerationResults><Blobs>${entries.join('')}</Blobs>${next}</EnumerationResults>`
  }
  return azure
}

export type AzureStorage = Awaited<ReturnType<typeof startAzureStorage>>

function operationOf(method: string, url: URL, key: string): string {
  const comp = url.searchParams.get('comp')
  if (method === 'GET' && url.searchParams.get('restype') === 'container' && comp === 'list')
    return 'ListBlobs'
  if (key === '') throw new Error(`${method} of a container is not simulated`)
  if (method === 'PUT')
    return comp === 'block' ? 'PutBlock' : comp === 'blocklist' ? 'PutBlockList' : 'PutBlob'
  return { GET: 'GetBlob', HEAD: 'GetBlobProperties', DELETE: 'DeleteBlob' }[method]!
}

/** What a blob's settings become in the response to Get Blob. Refuses what Azure refuses. */
function describe(headers: Record<string, string>, permission: string): Record<string, string> {
  const described: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    const plain = /^x-ms-blob-(content-type|cache-control|content-disposition)$/.exec(name)?.[1]
    if (plain) described[plain] = value
    if (name.startsWith('x-ms-meta-')) {
      if (!/^[a-z_][a-z0-9_]*$/i.test(name.slice(10))) throw new AzureError(400, 'InvalidMetadata')
      described[name] = value
    }
    if (name === 'x-ms-access-tier') {
      if (!['Hot', 'Cool', 'Cold', 'Archive'].includes(value)) throw new AzureError(400, 'InvalidHeaderValue')
      described[name] = value
    }
    if (name === 'x-ms-tags') {
      if (!permission.includes('t')) throw new AzureError(403, 'AuthorizationPermissionMismatch')
      const tags = [...new URLSearchParams(value)].flat()
      if (!tags.every((text) => /^[A-Za-z0-9 +./:=_-]{0,256}$/.test(text)))
        throw new AzureError(400, 'InvalidTag')
      described[name] = value
    }
  }
  return described
}
