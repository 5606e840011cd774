import { setMaxListeners } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { keepGoing } from '#packages/react/src/keep-going.ts'
import { askBackend, createTokens } from '#packages/react/src/tokens.ts'

type Kept = Pick<ReturnType<typeof keepGoing>, 'onBeforeRequest' | 'onShouldRetry' | 'retryDelays'>

const TARGET = {
  baseUrl: 'https://sluice.test',
  uploadUrl: 'https://sluice.test/pipes/p/files/',
  pipeId: 'p',
}
const UPLOAD = `${TARGET.uploadUrl}1`
const HOUR_MS = 3_600_000

/**
 * The reported reasons for waiting, and the statuses that the backend and the server respond with: undefined means no
 * response.
 */
let told: string[]
let backend: number | undefined
let server: number | undefined
let tokens: number
let asked: { method: string; at: number; authorization: string | null }[]
let network: EventTarget

const fetchNow: typeof fetch = (...args) => globalThis.fetch(...args)
const create = (): Kept =>
  keepGoing({
    tokens: createTokens(() => askBackend('/api/upload-token', fetchNow)),
    tell: (reason) => told.push(reason),
    fetch: fetchNow,
  })

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse('2026-11-22T12:00:00Z') })
  told = []
  asked = []
  tokens = 0
  backend = 200
  server = 200
  network = new EventTarget()
  setMaxListeners(0, network)
  vi.stubGlobal('addEventListener', network.addEventListener.bind(network))
  vi.stubGlobal('removeEventListener', network.removeEventListener.bind(network))
  vi.stubGlobal('navigator', { onLine: true })
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
    const authorization = new Headers(init.headers).get('Authorization')
    asked.push({ method: init.method!, at: Date.now(), authorization })
    const status = url === UPLOAD ? server : backend
    if (status === undefined) throw new TypeError('Failed to fetch')
    if (url === UPLOAD) return new Response(null, { status, headers: { 'Upload-Offset': '7' } })
    if (status !== 200) return new Response('', { status })
    tokens += 1
    return Response.json({
      token: `tmp_${tokens}`,
      expiresAt: new Date(Date.now() + HOUR_MS).toISOString(),
      uploadUrl: TARGET.uploadUrl,
    })
  })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

function requestOf(method: string) {
  const headers = new Map<string, string>()
  return {
    headers,
    sent: 0,
    getMethod: () => method,
    getURL: () => UPLOAD,
    setHeader: (name: string, value: string) => void headers.set(name, value),
    send(): ReturnType<Parameters<Kept['onBeforeRequest']>[0]['send']> {
      this.sent += 1
      throw new Error('not by this stack')
    },
    abort: async () => {},
    getUnderlyingObject: () => undefined,
  }
}

const answered = (status: number) =>
  Object.assign(new Error('tus'), { originalResponse: { getStatus: () => status } })
const file = { data: new Blob(['bytes']) }

describe('an upload', () => {
  /** Sends a request as tus-js-client does, and records the outcome. */
  function begin(kept: Kept, method: string, picked: { data: unknown } = file) {
    const request = requestOf(method)
    const state: { status?: number; offset?: string | undefined; error?: Error; ready?: true } = {}
    const run = async () => {
      await kept.onBeforeRequest(request, picked)
      if (method !== 'HEAD') {
        state.ready = true
        return
      }
      const response = await request.send()
      state.status = response.getStatus()
      state.offset = response.getHeader('Upload-Offset')
    }
    run().catch((error) => {
      state.error = error
    })
    return { request, state }
  }

  it('waits for the network for as long as necessary, and continues when the browser reports that it is back', async () => {
    backend = undefined
    const { request, state } = begin(create(), 'POST')
    await vi.advanceTimersByTimeAsync(HOUR_MS + 5000)
    expect(state).toEqual({})
    expect(new Set(told)).toEqual(new Set(['Waiting for the network']))
    backend = 200
    network.dispatchEvent(new Event('online'))
    await vi.advanceTimersByTimeAsync(0)
    expect(state).toEqual({ ready: true })
    expect(request.headers.get('Authorization')).toBe('Bearer tmp_1')
  })

  it('retries after 1, 2, 4, 8 and 16 seconds, then every 30 seconds, if the browser does not notice', async () => {
    backend = undefined
    begin(create(), 'POST')
    await vi.advanceTimersByTimeAsync(91_000)
    const at = asked.map((one) => (one.at - asked[0]!.at) / 1000)
    expect(at).toEqual([0, 1, 3, 7, 15, 31, 61, 91])
  })

  it('waits for a backend that issues no tokens for a minute, and reports why', async () => {
    backend = 500
    const { state } = begin(create(), 'PATCH')
    await vi.advanceTimersByTimeAsync(60_000)
    expect(state).toEqual({})
    expect(told.at(-1)).toBe('No upload token: 500')
    backend = 200
    await vi.advanceTimersByTimeAsync(30_000)
    expect(state).toEqual({ ready: true })
  })

  it.each([401, 403])('fails without retrying if the backend responds with %i', async (status) => {
    backend = status
    const kept = create()
    const { state } = begin(kept, 'PATCH')
    await vi.advanceTimersByTimeAsync(0)
    expect(state.error?.message).toBe(`No upload token: ${status}`)
    expect(kept.onShouldRetry(Object.assign(new Error('tus'), { causingError: state.error! }), 0)).toBe(false)
  })

  it.each([undefined, 423, 429, 500, 502, 503, 504])(
    'gets the offset after HEAD has failed with %s for a minute',
    async (status) => {
      server = status
      const { state } = begin(create(), 'HEAD')
      await vi.advanceTimersByTimeAsync(60_000)
      expect(state).toEqual({})
      expect(told.length).toBeGreaterThan(3)
      server = 200
      await vi.advanceTimersByTimeAsync(30_000)
      expect(state).toEqual({ status: 200, offset: '7' })
    },
  )

  it.each([404, 410])('lets the client start over after %i', async (status) => {
    server = status
    const { state } = begin(create(), 'HEAD')
    await vi.advanceTimersByTimeAsync(0)
    expect(state.status).toBe(status)
  })

  it('retries once with a new token if the token was revoked, then fails without starting over', async () => {
    server = 401
    const kept = create()
    const { state } = begin(kept, 'HEAD')
    await vi.advanceTimersByTimeAsync(0)
    const sent = asked.filter(({ method }) => method === 'HEAD').map(({ authorization }) => authorization)
    expect(sent).toEqual(['Bearer tmp_1', 'Bearer tmp_2'])
    expect(state.error?.message).toContain('401')
    expect(kept.onShouldRetry(Object.assign(new Error('tus'), { causingError: state.error! }), 0)).toBe(false)
  })

  it("fetches a new token after the clock jumps past the old one's expiry", async () => {
    const kept = create()
    begin(kept, 'PATCH')
    await vi.advanceTimersByTimeAsync(0)
    vi.setSystemTime(Date.now() + HOUR_MS)
    const { request } = begin(kept, 'PATCH')
    await vi.advanceTimersByTimeAsync(0)
    expect(request.headers.get('Authorization')).toBe('Bearer tmp_2')
  })

  it.each(['HEAD', 'PATCH'])('does not send a %s that was paused while it waited', async (method) => {
    backend = undefined
    const { request, state } = begin(create(), method)
    await vi.advanceTimersByTimeAsync(10_000)
    await request.abort()
    backend = 200
    const before = asked.length
    await vi.advanceTimersByTimeAsync(HOUR_MS)
    expect(asked.length).toBeLessThanOrEqual(before + 1)
    expect(state).toEqual({})
    expect(request.headers.size).toBe(0)
  })

  it('fails if the file has changed since it was selected', async () => {
    const changed = new Blob(['bytes'])
    const unreadable = new DOMException('The file could not be read.', 'NotReadableError')
    vi.spyOn(changed, 'slice').mockReturnValue(
      Object.assign(new Blob(), { arrayBuffer: () => Promise.reject(unreadable) }),
    )
    const kept = create()
    const { state } = begin(kept, 'HEAD', { data: changed })
    await vi.advanceTimersByTimeAsync(0)
    expect(state.error).toBe(unreadable)
    expect(kept.onShouldRetry(Object.assign(new Error('tus'), { causingError: unreadable }), 0)).toBe(false)
  })

  it('has a delay for every half minute of the seven days that an upload may be idle', () => {
    const { retryDelays } = create()
    expect(Math.max(...retryDelays)).toBe(30_000)
    expect(retryDelays.reduce((sum, delay) => sum + delay, 0)).toBeGreaterThan(7 * 24 * HOUR_MS - HOUR_MS)
  })

  it('retries after temporary errors, but not if the upload is refused', () => {
    const kept = create()
    const passing = [409, 423, 429, 500, 502, 503, 504]
    for (const status of passing) expect(kept.onShouldRetry(answered(status), 100), String(status)).toBe(true)
    for (const status of [400, 403, 404, 410, 413])
      expect(kept.onShouldRetry(answered(status), 0), String(status)).toBe(false)
    expect(kept.onShouldRetry(new Error('broken line'), 100)).toBe(true)
    expect(told).toEqual([
      ...passing.map((status) => expect.stringContaining(String(status))),
      'Waiting for the network',
    ])
  })

  it('does not retry forever if tokens are rejected', () => {
    const kept = create()
    expect(kept.onShouldRetry(answered(401), 0)).toBe(true)
    expect(kept.onShouldRetry(answered(401), 4)).toBe(false)
  })

  it('does not use up attempts while the browser reports that it is offline', async () => {
    const kept = create()
    begin(kept, 'POST')
    await vi.advanceTimersByTimeAsync(0)
    vi.stubGlobal('navigator', { onLine: false })
    expect(kept.onShouldRetry(new Error('broken line'), 0)).toBe(true)
    const { state } = begin(kept, 'POST')
    await vi.advanceTimersByTimeAsync(20_000)
    expect(state).toEqual({})
    expect(told).toEqual(['Waiting for the network'])
    network.dispatchEvent(new Event('online'))
    await vi.advanceTimersByTimeAsync(0)
    expect(state).toEqual({ ready: true })
  })
})
