/** @module-tag long */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OPERATIONS } from '#lib/api/operations.ts'
import type { DemoDocument } from '#lib/dashboard/demo/ensure-demo.ts'
import { ask as askRaw, open } from '../../test/support/raw-http.ts'
import { type Sluice, startSluice, temporaryFolder } from '../../test/support/sluice.ts'
import { readDemo, targetOf } from '../../test/support/target.ts'
import { metadata, newTus } from '../../test/support/tus.ts'

/** Tests the API and sign-in through the entire server: the front door, Next and the routes. */
let folder: ReturnType<typeof temporaryFolder>
let node: Sluice
let demo: DemoDocument
beforeAll(async () => {
  folder = temporaryFolder()
  node = await startSluice({ DATA_DIR: folder.path, LOG_LEVEL: 'debug', ACCESS_LOG: 'all' })
  demo = readDemo(folder.path)
})
afterAll(async () => {
  await node.stop()
  folder[Symbol.dispose]()
})

const call = (path: string, init: RequestInit & { key?: string } = {}) => {
  const { key, ...rest } = init
  const headers = {
    ...(key && { Authorization: `Bearer ${key}` }),
    Origin: 'https://evil.example',
    ...rest.headers,
  }
  return fetch(`${node.baseUrl}/api/v1${path}`, { ...rest, headers })
}
const json = { 'Content-Type': 'application/json' }

describe('the token API', () => {
  const ask = (body: string, method = 'POST') =>
    call('/tokens', { key: demo.senderToken, method, headers: json, ...(method === 'POST' && { body }) })

  it('issues a token, with a request id and without CORS', async () => {
    const response = await ask(JSON.stringify({ pipeId: demo.pipeId }))
    expect(response.status).toBe(201)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    expect(await response.json()).toMatchObject({
      token: expect.stringMatching(/^tmp_/),
      uploadUrl: `${demo.uploadUrl}/pipes/${demo.pipeId}/files/`,
    })
  })

  it('rejects a body of 64 KiB plus 1 byte, and a preflight', async () => {
    const body = JSON.stringify({ pipeId: demo.pipeId })
    expect((await ask(body.padEnd(65_536))).status).toBe(201)
    const large = await ask(body.padEnd(65_537))
    expect([large.status, (await large.json()).code]).toEqual([413, 'body_too_large'])
    const preflight = await ask('', 'OPTIONS')
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([405, null])
  })
})

it('serves its description to everybody, but its operations only with a key', async () => {
  const document = await (await call('/openapi.json')).json()
  expect(document.openapi).toBe('3.1.0')
  for (const { path, method, auth } of OPERATIONS) {
    if (auth === 'nobody') continue
    expect(document.paths[path][method.toLowerCase()]).toBeDefined()
    const response = await call(path.replace(/\{\w+\}/, 'x'), { method })
    expect(response.status, path).toBe(401)
  }
  expect((await call('/pipes', { key: demo.accountKey })).status).toBe(200)
  expect((await call('/nothing', { key: demo.accountKey })).status).toBe(404)
})

it("reports that the demo's bucket works", async () => {
  const path = `/data-stores/${demo.dataStoreId}/check`
  const checked = await (await call(path, { key: demo.accountKey, method: 'POST' })).json()
  expect(checked.check).toMatchObject({ ok: true })
})

describe('sign-in by next-auth', () => {
  class Browser {
    #cookies = new Map<string, string>()

    async fetch(path: string, form?: Record<string, string>) {
      const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const response = await fetch(node.baseUrl + path, {
        redirect: 'manual',
        headers: { cookie },
        ...(form && { method: 'POST', body: new URLSearchParams(form) }),
      })
      for (const line of response.headers.getSetCookie()) {
        const [, name, value] = line.match(/^([^=]+)=([^;]*)/)!
        if (/Max-Age=0|1970/.test(line) || value === '') this.#cookies.delete(name!)
        else this.#cookies.set(name!, value!)
      }
      return response
    }

    async signIn(email: string, password: string) {
      const { csrfToken } = await (await this.fetch('/api/auth/csrf')).json()
      return this.fetch('/api/auth/callback/credentials', { csrfToken, email, password })
    }

    session = async () => (await this.fetch('/api/auth/session')).json()
    cookie = (name: string) => this.#cookies.get(name)
    steal = (other: Browser, name: string) => this.#cookies.set(name, other.cookie(name)!)
  }
  const COOKIE = 'next-auth.session-token'

  it('starts a session only with the right password', async () => {
    const browser = new Browser()
    const refused = await browser.signIn(demo.email, 'wrong')
    expect(refused.headers.get('location')).toContain('error=CredentialsSignin')
    expect(browser.cookie(COOKIE)).toBeUndefined()
    await browser.signIn(demo.email, demo.password)
    expect(await browser.session()).toMatchObject({ user: { email: demo.email } })
  })

  it('ends the session at sign-out, even for a copy of the cookie', async () => {
    const [browser, thief] = [new Browser(), new Browser()]
    await browser.signIn(demo.email, demo.password)
    thief.steal(browser, COOKIE)
    expect(await thief.session()).toMatchObject({ user: { email: demo.email } })
    const { csrfToken } = await (await browser.fetch('/api/auth/csrf')).json()
    await browser.fetch('/api/auth/signout', { csrfToken })
    expect(await thief.session()).toEqual({})
  })
})

const FORGED = '{"level":30,"msg":"forged"}'
const EVIL = `a\n${FORGED}\r\n${FORGED}\u2028${FORGED}\u0085\u001b[2J`

// The last test, since it stops the server, and reads what all of them caused it to log.
it('keeps each log entry on one line, whatever a client sends', async () => {
  const target = targetOf(demo)
  const tus = await newTus(target, { metadata: { evil: EVIL } })
  await expect(target.token({ subject: EVIL })).rejects.toThrow('control characters')
  const names = metadata({ filename: EVIL, filetype: EVIL, evil: EVIL })
  const made = await tus.post({ 'Upload-Length': 2, 'Upload-Metadata': names }, 'ok')
  expect(made.status).toBe(201)
  const bytes = encodeURIComponent(EVIL)
  for (const path of [`/pipes/${bytes}/files/${bytes}`, `/api/v1/files/${bytes}`, `/${bytes}?${bytes}`])
    expect((await askRaw('GET', new URL(path, target.baseUrl))).status).toBeLessThan(500)
  const header = Buffer.from(EVIL)
    .toString('latin1')
    .replaceAll(/[\r\n\0]/g, '\t')
  for (const name of ['X-Request-Id', 'User-Agent', 'Referer', 'Origin', 'Authorization', 'X-Forwarded-For'])
    await tus.post({ 'Upload-Length': 1, [name]: header })
  for (const [path, body] of [
    ['/pipes', { name: EVIL, dataStoreId: target.dataStoreId, source: { http: true } }],
    ['/senders', { name: EVIL }],
    ['/pipes', { [EVIL]: EVIL }],
  ] as const)
    expect((await target.api('POST', path, body)).status).toBeLessThan(500)
  // Next logs unknown server actions.
  const unknown = { 'Next-Action': '0'.repeat(42), 'Content-Type': 'text/plain', Origin: target.baseUrl }
  expect((await askRaw('POST', new URL('/login', target.baseUrl), unknown, '[]')).status).toBeLessThan(500)
  // This is not HTTP.
  await using broken = open(new URL(target.baseUrl))
  broken.write(`${EVIL} / HTTP/1.1\r\n\r\n`)
  expect((await broken.answer('GET')).status).toBe(400)
  expect(await node.stop()).toBe(0)

  const lines = node.output().split(/\r\n|[\n\r\u2028\u0085]/)
  // Scripts wait for the line `ready`, which is the only one that is not JSON.
  const logged = lines.filter((line) => !/^(ready http.*)?$/.test(line))
  expect(logged.length).toBeGreaterThan(10)
  expect(logged.join('\n')).toContain('Server Action')
  for (const line of logged) {
    const said = JSON.parse(line)
    expect(said).toMatchObject({ level: expect.any(Number), service: 'sluice' })
    expect(said.msg).not.toBe('forged')
  }
})
