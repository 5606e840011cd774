import { beforeAll, describe, expect, inject, it } from 'vitest'
import { type Answer, ask } from '../../test/support/raw-http.ts'
import { cookiesOf, signedIn } from '../../test/support/session.ts'
import { type Target, targetOf } from '../../test/support/target.ts'

let target: Target
beforeAll(() => {
  target = targetOf(inject('demo'))
})
const at = (path: string) => new URL(path, target.baseUrl)

describe('the API', () => {
  it('has no CORS headers, so that no page on another origin can call it', async () => {
    for (const method of ['OPTIONS', 'POST']) {
      const { headers } = await ask(method, at('/api/v1/tokens'), { Origin: 'https://evil.example' })
      for (const name of Object.keys(headers)) expect(name).not.toMatch(/^access-control-/)
    }
  })

  it('does not accept a session in place of a key', async () => {
    const { status } = await ask('GET', at('/api/v1/pipes'), { Cookie: 'next-auth.session-token=x' })
    expect(status).toBe(401)
  })

  it('reveals nothing about a Pipe that does not exist or is not yours', async () => {
    const { status } = await target.api('GET', `/pipes/pipe_${'a'.repeat(20)}`)
    expect(status).toBe(404)
  })
})

describe('signing in', () => {
  it("requires the sign-in page's CSRF token", async () => {
    const body = `email=${encodeURIComponent(target.email)}&password=${encodeURIComponent(target.password)}`
    const fields = { 'Content-Type': 'application/x-www-form-urlencoded', Origin: 'https://evil.example' }
    const answer = await ask('POST', at('/api/auth/callback/credentials'), fields, body)
    expect(answer.headers['set-cookie'] ?? '').not.toMatch(/session-token=[^;]/)
  })

  it.each(['https://evil.example/', '//evil.example/', '/\\evil.example', 'https:evil.example'])(
    'does not redirect to another site: %s',
    async (to) => {
      for (const path of ['/login', '/api/auth/signin', '/api/auth/signout', '/dashboard']) {
        const url = at(`${path}?callbackUrl=${encodeURIComponent(to)}&next=${encodeURIComponent(to)}`)
        const { headers } = await ask('GET', url)
        const location = new URL(headers.location ?? '/', target.baseUrl)
        expect(location.origin).toBe(new URL(target.baseUrl).origin)
      }
    },
  )
})

it.each(['/', '/login', '/docs', '/nowhere'])(
  'a page cannot be framed, and runs only its own scripts: %s',
  async (path) => {
    const { headers } = await ask('GET', at(path))
    expect(headers['x-frame-options']).toBe('DENY')
    expect(headers['x-content-type-options']).toBe('nosniff')
    expect(headers['content-security-policy']).toMatch(/frame-ancestors 'none'/)
    expect(headers['content-security-policy']).toMatch(/script-src 'self' 'nonce-[^']+' 'strict-dynamic';/)
  },
)

/** The addresses that a browser, a phone or a link preview would fetch, and the targets of the page's links. */
function referencesOf(html: string): string[] {
  const tags = [...html.matchAll(/<(?:link|script|img|source|a|meta)\s[^>]*>/g)].map(([tag]) => tag)
  return tags.flatMap((tag) => {
    const picture = /(?:property|name)="(?:og|twitter):image"/.test(tag)
    const [, address] = tag.match(picture ? /content="([^"]+)"/ : /\s(?:src|href)="([^"]+)"/) ?? []
    return address && !address.startsWith('#') ? [address.replaceAll('&amp;', '&')] : []
  })
}

/** Fetches every page, the resources it refers to, and those its styles refer to. */
async function expectReferences(visit: (path: string) => Promise<Answer>, pages: string[]): Promise<void> {
  const fetched = new Map<string, { status: number; type: string; body: string }>()
  const get = async (path: string) => {
    const known = fetched.get(path)
    if (known) return known
    const { status, headers, body } = await visit(path)
    const answer = { status, type: headers['content-type'] ?? '', body }
    fetched.set(path, answer)
    return answer
  }
  const own = (from: string, address: string) => {
    const url = new URL(address, at(from))
    return url.origin === at('/').origin ? [url.pathname + url.search] : []
  }
  for (const page of pages) {
    const { status, body } = await get(page)
    expect(status, page).toBe(200)
    const references = referencesOf(body)
    for (const extra of ['/favicon.svg', '/apple-touch-icon.png', '/share.png'])
      expect(references.join(' '), page).toContain(extra)
    // Files and deliveries may be gone by now: other tests erase what they created.
    const lasting = references.filter(
      (address) => !/\/dashboard\/(files|webhooks)\/[0-9a-f-]{36}/.test(address),
    )
    for (const path of lasting.flatMap((address) => own(page, address))) {
      const { status, type, body } = await get(path)
      expect([200, 307], `${path}, of ${page}`).toContain(status)
      if (/\.(png|svg)$/.test(path)) expect(type, path).toMatch(/^image\//)
      if (!type.startsWith('text/css')) continue
      for (const [, address] of body.matchAll(/url\(["']?([^)"']+)["']?\)/g))
        for (const inner of own(path, address!)) expect((await get(inner)).status, inner).toBe(200)
    }
  }
  expect(fetched.size).toBeGreaterThan(20)
}

it('everything that the pages refer to exists', () =>
  expectReferences((path) => ask('GET', at(path)), ['/', '/docs', '/docs/api', '/login', '/sign-up']))

it('everything that the dashboard pages refer to exists', { tags: 'long' }, async () => {
  const visit = await signedIn(target)
  await expectReferences(visit.get, [
    ...['/dashboard', '/dashboard/data-stores', '/dashboard/data-stores/new', '/dashboard/pipes'],
    `/dashboard/data-stores/${target.dataStoreId}`,
    ...[
      '',
      '/settings',
      '/destinations',
      '/webhooks',
      '/restrictions',
      '/sources',
      '/embed',
      '/try',
      '/files',
    ].map((tab) => `/dashboard/pipes/${target.pipeId}${tab}`),
    ...['/dashboard/senders', '/dashboard/files', '/dashboard/webhooks', '/dashboard/webhooks/inbox'],
    ...['/dashboard/webhooks/verify', '/dashboard/usage', '/dashboard/settings'],
    ...['/dashboard/settings/keys', '/dashboard/settings/sessions', '/dashboard/settings/audit'],
  ])
})

it('the metrics require their token', async () => {
  expect((await ask('GET', at('/metrics'))).status).toBe(401)
  expect((await ask('GET', at('/metrics'), { Authorization: `Bearer ${target.metricsToken}` })).status).toBe(
    200,
  )
})

it('tells a client that guesses too often when to retry', { tags: 'long' }, async () => {
  const csrf = await ask('GET', at('/api/auth/csrf'))
  const fields = { 'Content-Type': 'application/x-www-form-urlencoded', Cookie: cookiesOf(csrf) }
  const { csrfToken } = JSON.parse(csrf.body)
  const body = new URLSearchParams({ csrfToken, email: 'nobody@example.com', password: 'x' }).toString()
  const guess = () => ask('POST', at('/api/auth/callback/credentials'), fields, body)
  const guesses = await Promise.all(Array.from({ length: 11 }, guess))
  const refused = guesses.filter(({ status }) => status === 429)
  expect(refused.length).toBeGreaterThanOrEqual(1)
  for (const { headers } of refused) expect(Number(headers['retry-after'])).toBeGreaterThan(0)
})
