import { beforeAll, describe, expect, inject, it } from 'vitest'
import { ask } from '../../test/support/raw-http.ts'
import { actionIds, cookiesOf, signedIn, type Visit } from '../../test/support/session.ts'
import { targetOf } from '../../test/support/target.ts'

/** Each of these requests once caused a 500. */
const target = targetOf(inject('demo'))
const at = (path: string) => new URL(path, target.baseUrl)
let visit: Visit
beforeAll(async () => {
  visit = await signedIn(target)
})

it.each(['__proto__', 'constructor', 'toString', '%00'])(
  'serves the sign-in page with error=%s',
  async (error) => {
    expect((await ask('GET', at(`/login?error=${error}`))).status).toBe(200)
  },
)

it.each(['within=1000000000', 'within=1e300', 'within=-1', 'within=NaN', 'cursor=x', 'status=__proto__'])(
  'serves the list of files with %s',
  async (query) => {
    expect((await visit.get(`/dashboard/files?${query}`)).status).toBe(200)
  },
)

it.each([
  '?pipeId=%00',
  '/webhooks?pipeId=%00',
  '/files?order=__proto__',
  '/files?order=constructor',
  '/files?search=%ED%A0%80',
])('serves the dashboard with %s', async (path) => {
  expect((await visit.get(`/dashboard${path}`)).status).toBe(200)
})

it.each([
  '0020-01-01T00:00:00Z',
  '0000-01-01T00:00:00+23:59',
  '1969-12-31T23:59:59Z',
  '9999-12-31T23:59:59Z',
])('accepts a time of %s in lists and filters', async (time) => {
  const lists = ['files?createdAfter', 'files?createdBefore', 'deliveries?since', 'deliveries?until']
  for (const list of lists) {
    const { status } = await target.api('GET', `/${list}=${encodeURIComponent(time)}`)
    expect(status, list).toBe(200)
  }
  expect((await target.api('POST', '/deliveries/resend-failed', { since: time })).status).toBe(202)
})

describe.each(['http://[', 'x', '%00', 'http://a:99999/'])('a callbackUrl of %s', (callbackUrl) => {
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
  it.each(['signout', 'signin/credentials', 'callback/credentials'])(
    'is rejected with 400 at %s',
    async (path) => {
      const csrf = await ask('GET', at('/api/auth/csrf'))
      const { csrfToken } = JSON.parse(csrf.body)
      const fields = { ...form, Cookie: cookiesOf(csrf) }
      const body = new URLSearchParams({ csrfToken, callbackUrl, email: 'a@b.example', password: 'x' })
      const answer = await ask('POST', at(`/api/auth/${path}`), fields, body.toString())
      expect(answer.status).toBe(400)
      expect(JSON.parse(answer.body)).toMatchObject({ code: 'invalid_request' })
    },
  )

  it("is rejected and deleted if a browser's cookie contains it", async () => {
    const Cookie = `next-auth.callback-url=${encodeURIComponent(callbackUrl)}`
    const answer = await ask('GET', at('/api/auth/session'), { Cookie })
    expect(answer.status).toBe(400)
    expect(answer.headers['set-cookie']).toMatch(/^next-auth\.callback-url=;.*Max-Age=0/)
  })
})

it('rejects a sign-in by GET, and survives a sign-out with invalid JSON', async () => {
  expect((await ask('GET', at('/api/auth/callback/credentials'))).status).toBe(405)
  const json = { 'Content-Type': 'application/json' }
  for (const body of ['{', 'null', '[]', '{"callbackUrl":1}'])
    expect((await ask('POST', at('/api/auth/signout'), json, body)).status, body).toBeLessThan(500)
})

it.each([
  ['POST', '_log'],
  ['GET', 'providers'],
  ['GET', 'constructor'],
  ['POST', 'csrf'],
])('has no %s /api/auth/%s', async (method, action) => {
  const answer = await ask(
    method,
    at(`/api/auth/${action}`),
    {},
    method === 'POST' ? 'code=x&level=error' : '',
  )
  expect(answer.status).toBe(404)
  expect(JSON.parse(answer.body)).toMatchObject({ code: 'not_found' })
})

it('responds to OPTIONS for the entire server', async () => {
  const url = {
    host: at('/').host,
    hostname: at('/').hostname,
    port: at('/').port,
    pathname: '*',
    search: '',
  }
  expect((await ask('OPTIONS', url as URL)).status).toBe(200)
})

it.each(['pipe_aaaaaaaaaaaaaaaaaaaa', '', { a: 1 }, null, 1])(
  "survives the Try it page's actions for %j, which does not exist or belongs to somebody else",
  async (id) => {
    const calls: [name: string, ...args: unknown[]][] = [
      ['takeTrialToken', id],
      ['endTrialToken', id, 'expire'],
      ['endTrialToken', id, 'revoke'],
      ['lookAtTrial', id],
      ['findAnything', id],
    ]
    for (const [name, ...args] of calls) {
      const { status, body } = await visit.act(name, ...args)
      expect([status, body.match(/^\d+:E.*/m)?.[0]], name).toEqual([200, undefined])
    }
  },
)

it.each([
  ['is truncated', '--x\r\nContent-Disposition: form-data; name="email"\r\n\r\na'],
  ['names no action', '--x\r\nContent-Disposition: form-data; name="$ACTION_1:0"\r\n\r\n1\r\n--x--\r\n'],
  [
    'names an unknown action',
    '--x\r\nContent-Disposition: form-data; name="$ACTION_REF_1"\r\n\r\n\r\n--x--\r\n',
  ],
])('rejects a posted form that %s', async (_, body) => {
  const fields = { 'Content-Type': 'multipart/form-data; boundary=x', Origin: target.baseUrl }
  const { status } = await ask('POST', at('/login'), fields, body)
  expect([400, 404]).toContain(status)
})

it.each(['["$F1"]', '[', '["$K1"]'])('rejects the arguments %s of an action with 400', async (body) => {
  const fields = {
    'Next-Action': actionIds().get('findAnything'),
    'Content-Type': 'multipart/form-data; boundary=x',
  }
  const { status } = await ask('POST', at('/dashboard'), { ...fields, Cookie: visit.cookie }, body)
  expect(status).toBe(400)
})
