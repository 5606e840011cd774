import { randomBytes } from 'node:crypto'
import { Upload, type UploadOptions } from 'tus-js-client-5'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { openTestDatabase } from '../../test/support/databases.ts'
import { httpCall } from '../../test/support/http-call.ts'
import { longUnless } from '../../test/support/long.ts'
import { type Connection, open, requestHead } from '../../test/support/raw-http.ts'
import { SHORT_TERMS, startUploadNode, type UploadNode } from '../../test/support/start-upload-node.ts'
import { createSite, type Site } from '../../test/support/upload-site.ts'

/** Resumable Uploads for HTTP over a raw socket: the node dies, and the upload continues on another node. */
const MiB = 1024 * 1024
let database: Awaited<ReturnType<typeof openTestDatabase>>
let site: Site
let nodes: UploadNode[] = []
let token: string

beforeAll(async () => {
  database = await openTestDatabase()
  site = await createSite(database)
  token = await site.token()
})
afterEach(async () => {
  await Promise.all(nodes.map((node) => node.stop()))
  nodes = []
})
afterAll(async () => {
  await site?.close()
  await database?.close()
})

async function start(): Promise<UploadNode> {
  const node = await startUploadNode({ databaseUrl: database.url, terms: SHORT_TERMS })
  nodes.push(node)
  return node
}

const fields = (interop: number, more: Record<string, string | number>) => ({
  Authorization: `Bearer ${token}`,
  'Upload-Draft-Interop-Version': interop,
  ...more,
})

/** The next 104 response; other 1xx responses may precede it. */
async function next104(connection: Connection) {
  for (;;) {
    const answer = await connection.answer('POST')
    if (answer.status === 104) return answer
    expect(answer.status).toBeLessThan(200)
  }
}

async function continuesElsewhere(interop: number): Promise<void> {
  const [doomed, other] = [await start(), await start()]
  const bytes = randomBytes(20 * MiB)
  const url = new URL(`${doomed.url}/pipes/${site.pipe.id}/files/`)
  const connection = open(url)
  const asked = { 'Upload-Complete': '?1', 'Content-Length': bytes.length }
  connection.write(requestHead('POST', url, fields(interop, asked)))
  const { headers } = await next104(connection)
  expect(headers).toMatchObject({ 'upload-draft-interop-version': String(interop) })
  connection.write(bytes.subarray(0, 12 * MiB))
  const told = await next104(connection)
  expect(told.headers['upload-offset']).toBe(String(8 * MiB))
  doomed.signal('SIGKILL')
  await doomed.ended
  const there = other.url + new URL(headers.location!).pathname
  const ask = () =>
    httpCall({
      method: 'HEAD',
      url: there,
      token,
      headers: { 'Upload-Draft-Interop-Version': String(interop) },
    })
  let standing = await ask()
  while (standing.status === 503) standing = await ask()
  expect(standing).toMatchObject({ status: 204, headers: { 'upload-complete': '?0' } })
  const offset = Number(standing.headers['upload-offset'])
  expect(offset).toBeGreaterThanOrEqual(8 * MiB)
  const rest = await httpCall({
    method: 'PATCH',
    url: there,
    token,
    headers: {
      'Upload-Draft-Interop-Version': String(interop),
      'Upload-Offset': String(offset),
      'Upload-Complete': '?1',
      'Content-Type': 'application/partial-upload',
    },
    body: bytes.subarray(offset),
  })
  expect(rest).toMatchObject({ status: 201, headers: { 'upload-complete': '?1' } })
  const { id } = JSON.parse(rest.body)
  expect((await site.bucket.object(`${id}/file`)).equals(bytes)).toBe(true)
  connection.socket.destroy()
}

it.each([10])(
  'interop version %i: after its node is killed, an upload continues on another node from the reported byte',
  continuesElsewhere,
)
it.each([6])(
  'interop version %i: after its node is killed, an upload continues on another node from the reported byte',
  { tags: 'long' },
  continuesElsewhere,
)

for (const uploadDataDuringCreation of [false, true]) {
  const name = `tus-js-client 5 resumes and completes after three cuts, with uploadDataDuringCreation: ${uploadDataDuringCreation}`
  it(name, longUnless(uploadDataDuringCreation), async () => {
    const node = await start()
    const bytes = randomBytes(20 * MiB)
    const options: Partial<UploadOptions> = {
      endpoint: `${node.url}/pipes/${site.pipe.id}/files/`,
      protocol: 'ietf-draft-05',
      headers: { Authorization: `Bearer ${token}` },
      chunkSize: 6 * MiB,
      uploadDataDuringCreation,
      metadata: { filename: 'film.bin' },
    }
    let uploadUrl: string | null = null
    for (const cut of [7 * MiB, 13 * MiB, 19 * MiB, Number.POSITIVE_INFINITY])
      await new Promise<void>((resolve, reject) => {
        const upload: Upload = new Upload(bytes, {
          ...options,
          ...(uploadUrl && { uploadUrl }),
          onProgress(sent) {
            uploadUrl = upload.url
            if (sent >= cut && uploadUrl) void upload.abort().then(resolve, reject)
          },
          onSuccess: () => resolve(),
          onError: reject,
        })
        upload.start()
      })
    const id = uploadUrl!.split('/').at(-1)
    expect((await site.bucket.object(`${id}/file`)).equals(bytes)).toBe(true)
  })
}
