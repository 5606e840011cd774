import { setMaxListeners } from 'node:events'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { FileChecksum } from './file-checksum.ts'
import { SMALL_BYTES, sendFile } from './send-file.ts'
import { tokensFor } from './tokens.ts'

const ENDPOINT = 'https://sluice.test/pipes/p/files/'
const UPLOAD = `${ENDPOINT}1`
const BYTES = SMALL_BYTES + 1
const HOUR_MS = 3_600_000

/** The statuses of the backend and the server: undefined means no response. */
let backend: number | undefined
let server: number | undefined
/** The bytes that the server has. */
let confirmed: number
let tokens: number
let sent: { key: string | undefined; bytes: number }[]
let asked: { method: string; at: number; authorization: string | undefined }[]
let told: string[]
let network: EventTarget

function answer(method: string, authorization: string | undefined, body: Blob | null = null) {
  asked.push({ method, at: Date.now(), authorization })
  if (server === undefined || server >= 300) return server
  confirmed += body?.size ?? 0
  return server
}

class FakeXhr {
  method = ''
  headers: Record<string, string> = {}
  upload = {}
  status = 0
  responseText = ''
  onload = () => {}
  onerror = () => {}
  open(method: string) {
    this.method = method
  }
  setRequestHeader(name: string, value: string) {
    this.headers[name] = value
  }
  getResponseHeader(name: string) {
    return { Location: UPLOAD, 'Upload-Offset': String(confirmed) }[name] ?? null
  }
  send(body: Blob | null) {
    sent.push({ key: this.headers['Idempotency-Key'], bytes: body?.size ?? 0 })
    const status = answer(this.method, this.headers.Authorization, body)
    this.status = status ?? 0
    this.responseText = status === 403 ? '{"detail":"It has a virus."}' : ''
    queueMicrotask(() => (status === undefined ? this.onerror() : this.onload()))
  }
  abort() {}
}

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse('2026-11-22T12:00:00Z') })
  backend = 200
  server = 200
  confirmed = 0
  tokens = 0
  sent = []
  asked = []
  told = []
  network = new EventTarget()
  setMaxListeners(0, network)
  vi.stubGlobal('addEventListener', network.addEventListener.bind(network))
  vi.stubGlobal('removeEventListener', network.removeEventListener.bind(network))
  vi.stubGlobal('navigator', { onLine: true })
  vi.stubGlobal('XMLHttpRequest', FakeXhr)
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
    if (url === UPLOAD) {
      const status = answer(init.method!, new Headers(init.headers).get('Authorization') ?? undefined)
      if (status === undefined) throw new TypeError('Failed to fetch')
      return new Response(null, { status, headers: { 'Upload-Offset': String(confirmed) } })
    }
    asked.push({ method: 'token', at: Date.now(), authorization: undefined })
    if (backend === undefined) throw new TypeError('Failed to fetch')
    if (backend !== 200) return new Response('', { status: backend })
    tokens += 1
    const expiresAt = new Date(Date.now() + HOUR_MS).toISOString()
    return Response.json({ token: `tmp_${tokens}`, expiresAt, uploadUrl: ENDPOINT })
  })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** Sends a file, or continues the upload at `url`. */
function begin(url?: string, file = new Blob(['x'.repeat(BYTES)])) {
  const outcome: { urls: string[]; failed?: string; done?: true } = { urls: [] }
  const stop = sendFile({
    file,
    checksum: new FileChecksum(file),
    key: 'key',
    metadata: { filename: 'film.mov' },
    hold: undefined,
    url,
    tokens: tokensFor({}),
    transport: {},
    lines: { connections: 1, share: () => 1 },
    onUrl: (found) => outcome.urls.push(found),
    onLateUrl: () => {},
    onProgress: () => {},
    onWait: ({ reason }) => told.push(reason),
    onDone: () => {
      outcome.done = true
    },
    onFail: ({ reason }) => {
      outcome.failed = reason
    },
  })
  return { outcome, stop }
}
const methods = () => asked.map(({ method }) => method)
const DONE = { urls: [UPLOAD], done: true }

it('creates an upload and sends its bytes', async () => {
  const { outcome } = begin()
  await vi.advanceTimersByTimeAsync(0)
  expect(outcome).toEqual(DONE)
  expect(methods()).toEqual(['token', 'POST', 'PATCH'])
  expect(asked.at(-1)!.authorization).toBe('Bearer tmp_1')
})

it('sends a small file in the request that creates its upload', async () => {
  const { outcome } = begin(undefined, new Blob(['hello']))
  await vi.advanceTimersByTimeAsync(0)
  expect(outcome).toEqual(DONE)
  expect(methods()).toEqual(['token', 'POST'])
  expect(sent).toEqual([{ key: 'key', bytes: 5 }])
})

it.each([
  [0, ['PATCH']],
  [2, ['PATCH']],
  [5, []],
])(
  'asks how far a small file came if its creation gets no response, and goes on after %i bytes',
  async (arrived, after) => {
    server = undefined
    const { outcome } = begin(undefined, new Blob(['hello']))
    await vi.advanceTimersByTimeAsync(0)
    server = 200
    confirmed = arrived
    await vi.advanceTimersByTimeAsync(1000)
    expect(outcome).toEqual(DONE)
    // The first repetition follows at once.
    expect(methods()).toEqual(['token', 'POST', 'POST', 'POST', ...after])
    const creations = [5, 0, 0].map((bytes) => ({ key: 'key', bytes }))
    expect(sent).toEqual([...creations, ...after.map(() => ({ key: undefined, bytes: 5 - arrived }))])
  },
)

it('waits for the network for as long as necessary, and continues when the browser reports that it is back', async () => {
  backend = undefined
  const { outcome } = begin()
  await vi.advanceTimersByTimeAsync(HOUR_MS + 5000)
  expect(outcome).toEqual({ urls: [] })
  expect(new Set(told)).toEqual(new Set(['Waiting for the network']))
  backend = 200
  network.dispatchEvent(new Event('online'))
  await vi.advanceTimersByTimeAsync(0)
  expect(outcome).toEqual(DONE)
})

it('retries after 1, 2, 4, 8 and 16 seconds, then every 30 seconds, if the browser does not notice', async () => {
  backend = undefined
  begin()
  await vi.advanceTimersByTimeAsync(91_000)
  expect(asked.map(({ at }) => (at - asked[0]!.at) / 1000)).toEqual([0, 1, 3, 7, 15, 31, 61, 91])
})

it('waits for a backend that issues no tokens for a minute, and reports why', async () => {
  backend = 500
  const { outcome } = begin()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(told.at(-1)).toBe('No upload token: 500')
  backend = 200
  await vi.advanceTimersByTimeAsync(30_000)
  expect(outcome).toEqual(DONE)
})

it.each([401, 403])('fails without retrying if the backend responds with %i', async (status) => {
  backend = status
  const { outcome } = begin(UPLOAD)
  await vi.advanceTimersByTimeAsync(60_000)
  expect([outcome.failed, methods()]).toEqual([`No upload token: ${status}`, ['token']])
})

it.each([undefined, 423, 429, 500, 502, 503, 504])(
  'gets the offset after HEAD has failed with %s for a minute',
  async (status) => {
    server = status
    confirmed = 7
    const { outcome } = begin(UPLOAD)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(outcome).toEqual({ urls: [] })
    expect(told.length).toBeGreaterThan(3)
    server = 200
    await vi.advanceTimersByTimeAsync(30_000)
    expect(outcome).toEqual(DONE)
    expect([methods().at(-1), confirmed]).toEqual(['PATCH', BYTES])
  },
)

it.each([404, 410])('starts over after %i', async (status) => {
  server = status
  const { outcome } = begin(UPLOAD)
  await vi.advanceTimersByTimeAsync(0)
  expect(outcome.failed).toBe(`The server responded with ${status}`)
  expect(methods().slice(0, 3)).toEqual(['token', 'HEAD', 'POST'])
})

it('retries once with a new token if the token was revoked, then fails without starting over', async () => {
  server = 401
  const { outcome } = begin(UPLOAD)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(asked.flatMap(({ authorization }) => authorization ?? [])).toEqual(['Bearer tmp_1', 'Bearer tmp_2'])
  expect(outcome.failed).toContain('401')
})

it('does not retry forever if tokens are rejected', async () => {
  server = 401
  const { outcome } = begin()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(outcome.failed).toContain('401')
  expect(methods().filter((method) => method === 'POST')).toHaveLength(5)
})

it("fetches a new token after the clock jumps past the old one's expiry", async () => {
  server = 503
  const { outcome } = begin()
  await vi.advanceTimersByTimeAsync(0)
  vi.setSystemTime(Date.now() + HOUR_MS)
  server = 200
  await vi.advanceTimersByTimeAsync(1000)
  expect(outcome).toEqual(DONE)
  expect(asked.at(-1)!.authorization).toBe('Bearer tmp_2')
})

it.each([undefined, UPLOAD])('sends nothing once it is stopped while it waits, at %s', async (url) => {
  backend = undefined
  const { outcome, stop } = begin(url)
  await vi.advanceTimersByTimeAsync(10_000)
  stop()
  backend = 200
  const before = asked.length
  await vi.advanceTimersByTimeAsync(HOUR_MS)
  expect(asked.length).toBeLessThanOrEqual(before + 1)
  expect(outcome).toEqual({ urls: [] })
})

it('fails if the file has changed since it was selected', async () => {
  const changed = new Blob(['bytes'])
  const unreadable = new DOMException('The file could not be read.', 'NotReadableError')
  vi.spyOn(changed, 'slice').mockReturnValue(
    Object.assign(new Blob(), { arrayBuffer: () => Promise.reject(unreadable) }),
  )
  const { outcome } = begin(UPLOAD, changed)
  await vi.advanceTimersByTimeAsync(0)
  expect(outcome.failed).toBe('The file could not be read.')
})

it.each([undefined, 409, 423, 429, 500, 502, 503, 504])(
  'retries for an hour if its creation fails with %s',
  async (status) => {
    server = status
    const { outcome } = begin()
    await vi.advanceTimersByTimeAsync(HOUR_MS)
    expect(outcome).toEqual({ urls: [] })
    expect(told.at(-1)).toContain(status === undefined ? 'Waiting for the network' : String(status))
    server = 200
    await vi.advanceTimersByTimeAsync(30_000)
    expect(outcome).toEqual(DONE)
  },
)

it('retries for the seven days that an upload may be idle, but not forever', async () => {
  server = 503
  const { outcome } = begin()
  await vi.advanceTimersByTimeAsync(6.9 * 24 * HOUR_MS)
  expect(outcome).toEqual({ urls: [] })
  await vi.advanceTimersByTimeAsync(0.2 * 24 * HOUR_MS)
  expect(outcome.failed).toBe('The server responded with 503')
})

it.each([400, 403, 413])('fails at once if the server responds with %i', async (status) => {
  server = status
  const { outcome } = begin()
  await vi.advanceTimersByTimeAsync(0)
  expect([outcome.failed, told]).toEqual([
    status === 403 ? 'It has a virus.' : `The server responded with ${status}`,
    [],
  ])
})

it('does not use up attempts while the browser reports that it is offline', async () => {
  server = undefined
  vi.stubGlobal('navigator', { onLine: false })
  const { outcome } = begin()
  await vi.advanceTimersByTimeAsync(20_000)
  expect([methods(), told]).toEqual([['token', 'POST'], ['Waiting for the network']])
  server = 200
  network.dispatchEvent(new Event('online'))
  await vi.advanceTimersByTimeAsync(0)
  expect(outcome).toEqual(DONE)
})
