import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, inject, it } from 'vitest'
import { createSluice, createTokenHandler, SluiceError, webhooks } from '../../packages/node/src/index.ts'
import { toNodeHandler } from '../../packages/node/src/node-http.ts'
import { metadata, OCTETS, tusWith } from '../../test/support/tus.ts'

const demo = inject('demo')
const { baseUrl, accountKey, senderToken, dataStoreId } = demo
const sluice = createSluice({ baseUrl, accountKey, senderToken })
const refusal = (call: Promise<unknown>): Promise<SluiceError> =>
  call.then(
    () => Promise.reject(new Error('The call was not refused.')),
    (error) => error,
  )

it('lists the items of all pages in order when iterated, and a single page when awaited', async () => {
  const made: string[] = []
  for (const n of [1, 2, 3, 4, 5]) made.unshift((await sluice.createSender({ name: `Page ${n}` })).id)
  const found: string[] = []
  for await (const { id, name } of sluice.listSenders({ limit: 2 }))
    if (name.startsWith('Page ')) found.push(id)
  expect(found).toEqual(made)
  const { data, nextCursor } = await sluice.listSenders({ limit: 2 })
  expect([data.length, typeof nextCursor]).toEqual([2, 'string'])
})

it('stops requesting pages when the loop ends', async () => {
  let asked = 0
  const counted: typeof fetch = (...args) => {
    asked += 1
    return fetch(...args)
  }
  const counting = createSluice({ baseUrl, accountKey, fetch: counted })
  for await (const _ of counting.listSenders({ limit: 1 })) if (asked === 2) break
  expect(asked).toBe(2)
})

it('reports a code, the invalid fields and a documentation link', async () => {
  const gone = await refusal(sluice.showPipe({ id: 'pipe_aaaaaaaaaaaaaaaaaaaa' }))
  expect(gone).toBeInstanceOf(SluiceError)
  expect(gone).toMatchObject({ code: 'pipe_not_found', status: 404, requestId: expect.any(String) })
  const wrong = await refusal(sluice.createPipe({ name: '', dataStoreId }))
  expect(wrong).toMatchObject({ code: 'invalid_request', errors: [{ field: 'name' }] })
  expect(wrong.message.match(/name must not be empty/g)).toHaveLength(1)
  const stranger = createSluice({ baseUrl, accountKey: 'ak_nobody' })
  expect(await refusal(stranger.listPipes())).toMatchObject({ code: 'account_key_invalid', status: 401 })
})

it('reports a missing response, and a response from another server', async () => {
  const away = createSluice({ baseUrl: 'http://127.0.0.1:1', accountKey, maxRetries: 0 })
  expect(await refusal(away.listPipes())).toMatchObject({
    code: 'no_answer',
    status: undefined,
    message: expect.stringMatching(/^Sluice at 127\.0\.0\.1:1 did not respond: /),
  })
  const page = createSluice({
    baseUrl,
    accountKey,
    fetch: async () => new Response('<html>', { status: 404 }),
  })
  expect(await refusal(page.listPipes())).toMatchObject({ code: 'unexpected_answer', status: 404 })
})

it('creates only one resource when the first response is lost', async () => {
  let sent = 0
  const lossy: typeof fetch = async (...args) => {
    const response = await fetch(...args)
    sent += 1
    if (sent === 1) throw new TypeError('The connection was lost.')
    return response
  }
  const { id } = await createSluice({ baseUrl, accountKey, fetch: lossy }).createSender({ name: 'Only one' })
  const found = []
  for await (const sender of sluice.listSenders()) if (sender.name === 'Only one') found.push(sender.id)
  expect([sent, found]).toEqual([2, [id]])
})

it('ends immediately when aborted while waiting', async () => {
  const leaving = new AbortController()
  const gone: typeof fetch = async () => {
    queueMicrotask(() => leaving.abort(new Error('left')))
    throw new TypeError('No network.')
  }
  const call = createSluice({ baseUrl, accountKey, fetch: gone }).listPipes({}, { signal: leaving.signal })
  await expect(call).rejects.toThrow('left')
})

it('requires its keys, and names missing ones', async () => {
  expect(() => createSluice({ accountKey })).toThrow('SLUICE_URL')
  await expect(createSluice({ baseUrl }).listPipes()).rejects.toThrow('SLUICE_ACCOUNT_KEY')
})

/** Serves the handler with Node's own server; Express and Fastify work the same way. */
async function serve(handle: (request: Request) => Promise<Response>) {
  const server = createServer((req, res) => void toNodeHandler(handle)(req, res)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/upload-token`
  return { url, [Symbol.dispose]: () => void server.close() }
}

it('issues tokens through Node only to authorized users, for their permitted uploads', async () => {
  const { pipeId } = demo
  const handle = createTokenHandler({
    baseUrl,
    senderToken,
    pipeId,
    authorize: async (request) => {
      const { user } = (await request.json()) as { user: string }
      return user === 'ada' && { subject: user, maxBytes: 5, metadata: { album: 'Summer' } }
    },
  })
  using site = await serve(handle)
  const ask = (user: string) => fetch(site.url, { method: 'POST', body: JSON.stringify({ user }) })
  expect((await fetch(site.url)).status).toBe(405)
  const refused = await ask('eve')
  expect([refused.status, (await refused.json()).code]).toEqual([403, 'forbidden'])
  const answer = await ask('ada')
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
  const { token, uploadUrl } = await answer.json()
  const fields = {
    'Upload-Length': 5,
    'Upload-Metadata': metadata({ filename: 'kit.txt' }),
    'Content-Type': OCTETS,
  }
  const created = await tusWith(token, uploadUrl).post(fields, 'bytes')
  expect(created.status).toBe(201)
  expect((await tusWith(token, uploadUrl).post({ 'Upload-Length': 6 })).status).toBe(413)
})

it.each([
  ['the Sender is unknown', { senderToken: 'sk_nobody' }, 500, 'token_invalid'],
  ['a grant is invalid', { authorize: () => ({ expiresIn: 1 }) }, 500, 'invalid_request'],
  ['Sluice is down', { baseUrl: 'http://127.0.0.1:1' }, 503, 'no_answer'],
])(
  'issues no token when %s, and reports the reason only to the backend',
  async (_, options, status, code) => {
    const told: SluiceError[] = []
    const handle = createTokenHandler({
      baseUrl,
      senderToken,
      pipeId: demo.pipeId,
      authorize: () => ({}),
      onError: (error) => told.push(error as SluiceError),
      ...options,
    })
    const answer = await handle(new Request('https://shop.example.com/api/upload-token', { method: 'POST' }))
    expect([answer.status, told.map((error) => error.code)]).toEqual([status, [code]])
    expect(await answer.text()).not.toContain(told[0]!.message)
  },
)

it('reports what authorize threw to its backend, and returns thrown responses', async () => {
  const told: unknown[] = []
  const away = new Error('The session store is unavailable.')
  const ask = (thrown: unknown) => {
    const authorize = () => Promise.reject(thrown)
    const handle = createTokenHandler({ authorize, onError: (error) => told.push(error) })
    return handle(new Request('https://shop.example.com/api/upload-token', { method: 'POST' }))
  }
  expect([(await ask(away)).status, told]).toEqual([500, [away]])
  expect((await ask(Response.redirect('https://shop.example.com/login'))).status).toBe(302)
  expect(told).toHaveLength(1)
})

it('unwraps a webhook from Sluice, with types', async () => {
  const { token, uploadUrl } = await sluice.issueToken({
    pipeId: demo.pipeId,
    subject: 'ada',
    metadata: { order: '7' },
  })
  const fields = {
    'Upload-Length': 3,
    'Upload-Metadata': metadata({ filename: 'signed.txt' }),
    'Content-Type': OCTETS,
  }
  const { headers } = await tusWith(token, uploadUrl).post(fields, 'abc')
  const fileId = headers.location!.split('/').at(-1)!
  const delivered = async () =>
    (await sluice.listDeliveries({ fileId })).data.find(({ state }) => state === 'delivered')
  await expect.poll(delivered).toBeDefined()
  const { requestBody, attempts } = await sluice.showDelivery({ id: (await delivered())!.id })
  const event = await webhooks.unwrap(requestBody, attempts[0]!.requestHeaders, demo.webhookSecret)
  expect(event).toMatchObject({
    event: 'file.status_changed',
    data: { file_id: fileId, size: 3, subject: 'ada' },
  })
})

async function sendFile(pipeId = demo.pipeId): Promise<string> {
  const { token, uploadUrl } = await sluice.issueToken({ pipeId })
  const fields = { 'Upload-Length': 1, 'Content-Type': OCTETS }
  const { headers } = await tusWith(token, uploadUrl).post(fields, 'x')
  return headers.location!.split('/').at(-1)!
}

it('receives each event once across a lost connection', async () => {
  let line: AbortController | undefined = new AbortController()
  const breakable: typeof fetch = async (input, init) => {
    if (!line) throw new TypeError('No network.')
    return fetch(input, { ...init, signal: AbortSignal.any([init!.signal!, line.signal]) })
  }
  const leaving = new AbortController()
  const told: string[] = []
  const found: string[] = []
  const listener = createSluice({ baseUrl, accountKey, fetch: breakable })
  const following = (async () => {
    const onBreak = ({ code }: SluiceError) => told.push(code)
    for await (const { data } of listener.events({
      signal: leaving.signal,
      onOpen: () => told.push('open'),
      onBreak,
    }))
      found.push(data.file_id)
  })()
  await expect.poll(() => told).toEqual(['open'])
  const sent = [await sendFile()]
  await expect.poll(() => found).toEqual(expect.arrayContaining(sent))
  const before = line
  line = undefined
  before.abort(new TypeError('The connection was lost.'))
  sent.push(await sendFile(), await sendFile())
  line = new AbortController()
  await expect.poll(() => found).toEqual(expect.arrayContaining(sent))
  expect(new Set(found).size).toBe(found.length)
  expect([told[0], told[1], told.at(-1)]).toEqual(['open', 'no_answer', 'open'])
  leaving.abort()
  await following
})

it('follows only the requested kinds of events', async () => {
  const { id: pipeId } = await sluice.createPipe({ name: 'Followed', dataStoreId, source: { http: true } })
  await sluice.createPipeOutput({ id: pipeId, url: 'http://127.0.0.1:1/', events: ['file.created'] })
  const leaving = new AbortController()
  const isOpen = Promise.withResolvers<void>()
  const found: string[] = []
  const following = (async () => {
    const { signal } = leaving
    const events = ['file.created', 'usage.threshold'] as const
    for await (const told of sluice.events({ pipeId, events, signal, onOpen: isOpen.resolve })) {
      found.push(told.event === 'file.created' ? `${told.data.status} ${told.data.file_id}` : told.event)
      if (found.length === 2) leaving.abort()
    }
  })()
  await isOpen.promise
  const sent = [await sendFile(pipeId), await sendFile(pipeId)]
  await following
  expect(found).toEqual(sent.map((fileId) => `uploading ${fileId}`))
})

it('stops listening when it is refused', async () => {
  const stranger = createSluice({ baseUrl, accountKey: 'ak_nobody' })
  await expect(stranger.events().next()).rejects.toMatchObject({ code: 'account_key_invalid' })
})
