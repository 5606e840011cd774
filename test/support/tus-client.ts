import { type Call, httpCall, openCall, type Reply } from './http-call.ts'

/** A low-level TUS client, which sends one request at a time. */
export type TusReply = Reply

export const tusCall = (call: Call): Promise<Reply> =>
  httpCall({ ...call, headers: { 'Tus-Resumable': '1.0.0', ...call.headers } })

export const OFFSET_STREAM = { 'Content-Type': 'application/offset+octet-stream' }

export const metadata = (pairs: Record<string, string>) =>
  Object.entries(pairs)
    .map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
    .join(',')

/** The status and the code of a refused request. */
export const codeOf = ({ status, body }: Reply): [number, string] => [status, JSON.parse(body).code]

/** The file id in an upload's address. */
export const fileIdOf = (url: string) => url.split('/').at(-1)!

/** The usual calls, bound to one Pipe and token. */
export function tusClient(base: { url: string; pipeId: string; token: string }) {
  const { token } = base
  const collection = `${base.url}/pipes/${base.pipeId}/files/`
  const client = {
    token,
    collection,
    create: (length: number | null, headers: Record<string, string> = {}, body?: Buffer): Promise<Reply> =>
      tusCall({
        method: 'POST',
        url: collection,
        token,
        body,
        headers: {
          ...(length === null ? { 'Upload-Defer-Length': '1' } : { 'Upload-Length': String(length) }),
          ...(body && OFFSET_STREAM),
          ...headers,
        },
      }),
    head: (url: string): Promise<Reply> => tusCall({ method: 'HEAD', url, token }),
    patch: (url: string, offset: number, body: Buffer, headers: Record<string, string> = {}) =>
      tusCall({
        method: 'PATCH',
        url,
        token,
        body,
        headers: { 'Upload-Offset': String(offset), ...OFFSET_STREAM, ...headers },
      }),
    patchWithTrailer: (url: string, offset: number, body: Buffer, checksum: string) =>
      tusCall({
        method: 'PATCH',
        url,
        token,
        body,
        trailers: { 'Upload-Checksum': checksum },
        headers: {
          'Upload-Offset': String(offset),
          'Transfer-Encoding': 'chunked',
          Trailer: 'Upload-Checksum',
          ...OFFSET_STREAM,
        },
      }),
    terminate: (url: string) => tusCall({ method: 'DELETE', url, token }),
    /** Creates an upload, and returns its address. */
    async begin(length: number | null, fields?: Record<string, string>, bytes?: Buffer): Promise<string> {
      const { status, headers, body } = await client.create(length, fields, bytes)
      if (status !== 201) throw new Error(`The creation was rejected with ${status}: ${body}`)
      return headers.location!
    },
    async offset(url: string): Promise<number> {
      const { status, headers } = await client.head(url)
      if (status !== 200) throw new Error(`HEAD failed with ${status}`)
      return Number(headers['upload-offset'])
    },
  }
  return client
}

export type TusClient = ReturnType<typeof tusClient>

/** Opens a PATCH whose body the test sends piece by piece and can cut off. */
export function openPatch(
  client: { token: string },
  url: string,
  { offset, length, headers = {} }: { offset: number; length: number; headers?: Record<string, string> },
) {
  return openCall({
    method: 'PATCH',
    url,
    token: client.token,
    headers: {
      'Tus-Resumable': '1.0.0',
      'Upload-Offset': String(offset),
      'Content-Length': String(length),
      ...OFFSET_STREAM,
      ...headers,
    },
  })
}
