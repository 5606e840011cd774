import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OPERATIONS } from '#lib/api/operations.ts'
import type { DemoDocument } from '#lib/dashboard/demo/ensure-demo.ts'
import { type Sluice, startSluice, temporaryFolder } from '../../test/support/sluice.ts'

/** Tests the API and sign-in through the entire server: the front door, Next and the routes. */
let folder: ReturnType<typeof temporaryFolder>
let node: Sluice
let demo: DemoDocument
beforeAll(async () => {
  folder = temporaryFolder()
  node = await startSluice({ DATA_DIR: folder.path })
  demo = JSON.parse(readFileSync(join(folder.path, 'demo.json'), 'utf8'))
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
