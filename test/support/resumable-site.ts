import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { listFiles } from '#lib/dashboard/files/list-files.ts'
import type { DatabaseHandle } from '#lib/platform/db/database.ts'
import { minutes } from '#lib/platform/kernel/clock.ts'
import { clearLeftovers } from '#lib/recovery/clear-leftovers.ts'
import { type Call, httpCall, openCall, type Reply } from './http-call.ts'
import { fileIdOf } from './tus-client.ts'
import { createSite, type Site, serveUploads } from './upload-site.ts'

export const MiB = 1024 * 1024
export const TYPES = 'https://iana.org/assignments/http-problem-types#'
export const PARTIAL = { 'Content-Type': 'application/partial-upload' }
export const sha256 = (bytes: Buffer) => `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`

type Node = Awaited<ReturnType<typeof serveUploads>>
type Values = { site: Site; node: Node; behindProxy: Node; token: string; collection: string }

/**
 * An upload node and a Resumable Uploads for HTTP client, shared by the tests in one file. Its values are only
 * available once the tests run.
 */
export function resumableSite(database: () => DatabaseHandle) {
  const at = {} as Values
  beforeAll(async () => {
    at.site = await createSite(database(), {
      bucket: { actions: ['s3:PutObject', 's3:AbortMultipartUpload'] },
    })
    at.node = await serveUploads(at.site.runtime)
    const config = { ...at.site.runtime.config, interimResponses: false }
    at.behindProxy = await serveUploads({ ...at.site.runtime, config })
    at.collection = `${at.node.url}/pipes/${at.site.pipe.id}/files/`
  })
  // Some of the tests move the clock past the token's lifetime.
  const renew = async () => {
    at.token = await at.site.token()
  }
  beforeEach(renew)
  afterAll(async () => {
    await at.node?.close()
    await at.behindProxy?.close()
    await at.site?.close()
  })

  const version = (interop: number) => ({ 'Upload-Draft-Interop-Version': String(interop) })
  const call = ({ headers, ...more }: Partial<Call> & Pick<Call, 'method'>) =>
    httpCall({ url: at.collection, token: at.token, headers: { ...version(10), ...headers }, ...more })
  const begin = (complete: string, body: Buffer, headers: Record<string, string> = {}) =>
    call({ method: 'POST', body, headers: { 'Upload-Complete': complete, ...headers } })
  const append = (
    url: string,
    offset: number | string,
    complete: string,
    body: Buffer,
    headers: Record<string, string> = {},
  ) =>
    call({
      method: 'PATCH',
      url,
      body,
      headers: { 'Upload-Offset': String(offset), 'Upload-Complete': complete, ...PARTIAL, ...headers },
    })
  const head = (url: string, headers: Record<string, string> = {}) => call({ method: 'HEAD', url, headers })
  const opened = (headers: Record<string, string>, url = at.collection) =>
    openCall({ method: 'POST', url, token: at.token, headers: { ...version(10), ...headers } })
  const objectOf = (url: string, name = 'file') => at.site.bucket.object(`${fileIdOf(url)}/${name}`)
  const newest = async () => (await listFiles(at.site.runtime, at.site.actor, { limit: 1 })).data[0]!
  const problemOf = ({ status, body }: Reply) => ({ status, ...JSON.parse(body) })
  const codeOf = ({ status, body }: Reply) => [status, body && JSON.parse(body).code]
  const inBucket = async () => [await at.site.bucket.objects(), await at.site.bucket.unfinished()]
  const leavesNothing = async (before: string[][]) => {
    // A multipart upload that is still being created only becomes known once the bucket has responded.
    await Promise.all(at.node.context.background)
    at.site.clock.advance(minutes(2))
    await clearLeftovers(at.node.context)
    expect(await inBucket()).toEqual(before)
  }

  return {
    at,
    renew,
    version,
    call,
    begin,
    append,
    head,
    opened,
    objectOf,
    newest,
    problemOf,
    codeOf,
    inBucket,
    leavesNothing,
  }
}
