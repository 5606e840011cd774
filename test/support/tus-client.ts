import { request } from 'node:http'

/** A TUS client of one request at a time, that hides nothing. */
export type TusReply = { status: number; headers: Record<string, string>; body: string }

export type TusCall = {
  method: string
  url: string
  token?: string | undefined
  headers?: Record<string, string>
  body?: Buffer | undefined
  trailers?: Record<string, string>
}

export function tusCall({ method, url, token, headers = {}, body, trailers }: TusCall): Promise<TusReply> {
  return new Promise((resolve, reject) => {
    const all = {
      'Tus-Resumable': '1.0.0',
      ...(token && { Authorization: `Bearer ${token}` }),
      ...(body && !trailers && { 'Content-Length': String(body.length) }),
      ...headers,
    }
    const sent = request(url, { method, headers: all, agent: false }, async (response) => {
      const text = Buffer.concat(await response.toArray()).toString()
      resolve({
        status: response.statusCode!,
        headers: response.headers as Record<string, string>,
        body: text,
      })
    })
    sent.on('error', reject)
    if (trailers) sent.addTrailers(trailers)
    sent.end(body)
  })
}

export const OFFSET_STREAM = { 'Content-Type': 'application/offset+octet-stream' }

export const metadata = (pairs: Record<string, string>) =>
  Object.entries(pairs)
    .map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
    .join(',')

/** The usual calls, bound to one Pipe and token. */
export function tusClient(base: { url: string; pipeId: string; token: string }) {
  const { token } = base
  const collection = `${base.url}/pipes/${base.pipeId}/files/`
  return {
    token,
    collection,
    create: (length: number | null, headers: Record<string, string> = {}, body?: Buffer) =>
      tusCall({
        ...{ method: 'POST', url: collection, token, body },
        headers: {
          ...(length === null ? { 'Upload-Defer-Length': '1' } : { 'Upload-Length': String(length) }),
          ...(body && OFFSET_STREAM),
          ...headers,
        },
      }),
    head: (url: string) => tusCall({ method: 'HEAD', url, token }),
    patch: (url: string, offset: number, body: Buffer, headers: Record<string, string> = {}) =>
      tusCall({
        ...{ method: 'PATCH', url, token, body },
        headers: { 'Upload-Offset': String(offset), ...OFFSET_STREAM, ...headers },
      }),
    patchWithTrailer: (url: string, offset: number, body: Buffer, checksum: string) =>
      tusCall({
        ...{ method: 'PATCH', url, token, body, trailers: { 'Upload-Checksum': checksum } },
        headers: {
          'Upload-Offset': String(offset),
          'Transfer-Encoding': 'chunked',
          Trailer: 'Upload-Checksum',
          ...OFFSET_STREAM,
        },
      }),
    terminate: (url: string) => tusCall({ method: 'DELETE', url, token }),
  }
}

/** A PATCH whose body is sent piece by piece, and that may be cut off. */
export function openPatch(
  client: { token: string },
  url: string,
  { offset, length, headers = {} }: { offset: number; length: number; headers?: Record<string, string> },
) {
  const sent = request(url, {
    method: 'PATCH',
    agent: false,
    headers: {
      'Tus-Resumable': '1.0.0',
      Authorization: `Bearer ${client.token}`,
      'Upload-Offset': String(offset),
      'Content-Length': String(length),
      ...OFFSET_STREAM,
      ...headers,
    },
  })
  const reply = new Promise<TusReply>((resolve, reject) => {
    sent.on('error', reject)
    sent.on('response', async (response) => {
      response.on('error', reject)
      const text = Buffer.concat(await response.toArray().catch(() => [])).toString()
      resolve({
        status: response.statusCode!,
        headers: response.headers as Record<string, string>,
        body: text,
      })
    })
  })
  reply.catch(() => {})
  sent.flushHeaders()
  return {
    reply,
    /** Resolves when the system has taken the bytes. */
    write: (bytes: Buffer) => new Promise<void>((resolve) => void sent.write(bytes, () => resolve())),
    end: () => void sent.end(),
    cut: () => void sent.destroy(),
  }
}
