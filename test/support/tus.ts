import { type Answer, ask, type Fields } from './raw-http.ts'
import type { Target } from './target.ts'

/** A TUS client for unusual requests: each header that it adds can be replaced, or omitted with undefined. */
export const OCTETS = 'application/offset+octet-stream'

export type Tus = ReturnType<typeof tusWith>

export function tusWith(token: string | undefined, uploadUrl: string) {
  const common = { 'Tus-Resumable': '1.0.0', Authorization: token && `Bearer ${token}` }
  const at = (address: string) => new URL(address, uploadUrl)
  const send = (method: string, address: string, fields: Fields = {}, body: string | Uint8Array = '') =>
    ask(method, at(address), { ...common, ...fields }, body)
  const tus = {
    token,
    common,
    uploadUrl,
    at,
    send,
    options: (fields: Fields = {}) => ask('OPTIONS', at(uploadUrl), fields),
    post: (fields: Fields, body?: string | Uint8Array) =>
      send('POST', uploadUrl, { ...(body && { 'Content-Type': OCTETS }), ...fields }, body),
    head: (address: string, fields?: Fields) => send('HEAD', address, fields),
    patch: (address: string, offset: number | string, body: string | Uint8Array, fields: Fields = {}) =>
      send('PATCH', address, { 'Content-Type': OCTETS, 'Upload-Offset': offset, ...fields }, body),
    delete: (address: string, fields?: Fields) => send('DELETE', address, fields),
    /** Creates an upload and returns its address. */
    async create(length: number, fields: Fields = {}): Promise<string> {
      return located(await tus.post({ 'Upload-Length': length, ...fields }))
    },
    async offset(address: string): Promise<number> {
      return Number((await tus.head(address)).headers['upload-offset'])
    },
  }
  return tus
}

export function located({ status, headers, body }: Answer): string {
  if (status !== 201) throw new Error(`The creation was rejected with ${status}: ${body}`)
  return headers.location!
}

export async function newTus(target: Target, fields: object = {}): Promise<Tus> {
  const { token, uploadUrl } = await target.token(fields)
  return tusWith(token, uploadUrl)
}

export const metadata = (pairs: Record<string, string>): string =>
  Object.entries(pairs)
    .map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
    .join(',')

export const codeOf = (answer: Answer): string => JSON.parse(answer.body).code
