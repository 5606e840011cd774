import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { type Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { SignatureV4 } from '@smithy/signature-v4'
import type { Keys } from '../../e2e/bucket-contract/ground.ts'

export interface RawRequest {
  method: string
  /** The path exactly as it is sent. */
  path: string
  query?: Record<string, string>
  /** These are all signed. */
  headers?: Record<string, string>
  /** These are not signed. */
  unsignedHeaders?: Record<string, string>
  /** `x-amz-content-sha256`; defaults to the body's digest. */
  payload?: string
  body?: string | Buffer | ((seedSignature: string) => string | Buffer)
  agent?: Agent
}

export interface RawAnswer {
  status: number
  /** The error code, if the response is an S3 error. */
  code: string | undefined
  headers: IncomingHttpHeaders
  body: string
}

export type Wire = { endpoint: string; region: string; keys: Keys; nowMs: number }

export const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex')

/** Sends any request with a valid signature, including requests that no SDK would send. */
export async function sendRaw(wire: Wire, raw: RawRequest): Promise<RawAnswer> {
  const signed = await signerOf(wire).sign(requestOf(wire, raw), { signingDate: new Date(wire.nowMs) })
  const seedSignature = /Signature=(\w+)/.exec(signed.headers.authorization!)![1]!
  const body = typeof raw.body === 'function' ? raw.body(seedSignature) : raw.body
  return exchange(wire, raw, { ...signed.headers, ...raw.unsignedHeaders }, raw.query, body)
}

/** Sends a request with a presigned URL; `change` modifies the query after it has been signed. */
export async function sendPresigned(
  wire: Wire,
  raw: RawRequest & { expiresIn: number },
  change: (query: Record<string, string>) => void = () => {},
): Promise<RawAnswer> {
  const options = { signingDate: new Date(wire.nowMs), expiresIn: raw.expiresIn }
  const { headers, query } = await signerOf(wire).presign(
    requestOf(wire, { payload: 'UNSIGNED-PAYLOAD', ...raw }),
    options,
  )
  const presigned = query as Record<string, string>
  change(presigned)
  return exchange(wire, raw, headers, presigned, raw.body as string)
}

export async function exchange(
  { endpoint }: Wire,
  { method, path, agent }: RawRequest,
  headers: Record<string, string>,
  query: Record<string, string> = {},
  body: string | Buffer = '',
): Promise<RawAnswer> {
  const search = new URLSearchParams(query).toString().replaceAll('+', '%20')
  const { hostname, port } = new URL(endpoint)
  const sending = request({
    hostname,
    port,
    method,
    path: search ? `${path}?${search}` : path,
    headers,
    agent,
  })
  sending.end(body)
  const [answer] = (await once(sending, 'response')) as [IncomingMessage]
  const answered = await text(answer)
  const code = /<Code>(\w+)<\/Code>/.exec(answered)?.[1]
  return { status: answer.statusCode!, code, headers: answer.headers, body: answered }
}

function requestOf({ endpoint }: Wire, { method, path, query, headers, payload, body }: RawRequest) {
  const { host, hostname, protocol } = new URL(endpoint)
  const digest = payload ?? sha256(typeof body === 'string' || Buffer.isBuffer(body) ? body : '')
  const all = { host, 'x-amz-content-sha256': digest, ...headers }
  return { method, path, protocol, hostname, query: query ?? {}, headers: all, body: undefined }
}

function signerOf({ keys, region }: Wire): SignatureV4 {
  return new SignatureV4({
    credentials: keys,
    region,
    service: 's3',
    sha256: Sha256,
    uriEscapePath: false,
    applyChecksum: false,
  })
}

class Sha256 {
  readonly #hash
  constructor(secret?: unknown) {
    this.#hash = secret ? createHmac('sha256', secret as string) : createHash('sha256')
  }
  update(data: Uint8Array): void {
    this.#hash.update(data)
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }
  reset(): void {}
}

/** A body in signed chunks, as SDKs in other languages send it: each chunk's signature depends on the previous one. */
export function signedChunks(
  { keys, region, nowMs }: Wire,
  seedSignature: string,
  chunks: string[],
  trailer?: { name: string; value: string },
): string {
  const date = new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, '')
  const scope = `${date.slice(0, 8)}/${region}/s3/aws4_request`
  const hmac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest()
  const signingKey = [date.slice(0, 8), region, 's3', 'aws4_request'].reduce<string | Buffer>(
    hmac,
    `AWS4${keys.secretAccessKey}`,
  )
  const sign = (...lines: string[]) => hmac(signingKey, lines.join('\n')).toString('hex')
  let signature = seedSignature
  let body = ''
  for (const chunk of [...chunks, '']) {
    signature = sign('AWS4-HMAC-SHA256-PAYLOAD', date, scope, signature, sha256(''), sha256(chunk))
    body += `${chunk.length.toString(16)};chunk-signature=${signature}\r\n${chunk}${chunk ? '\r\n' : ''}`
  }
  if (!trailer) return `${body}\r\n`
  const line = `${trailer.name}:${trailer.value}`
  signature = sign('AWS4-HMAC-SHA256-TRAILER', date, scope, signature, sha256(`${line}\n`))
  return `${body}${line}\r\nx-amz-trailer-signature:${signature}\r\n\r\n`
}
