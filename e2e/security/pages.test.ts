import { beforeAll, describe, expect, inject, it } from 'vitest'
import { ask } from '../parts/raw-http.ts'
import { cookiesOf } from '../parts/session.ts'
import { type Target, targetOf } from '../parts/target.ts'

let target: Target
beforeAll(() => {
  target = targetOf(inject('demo'))
})
const at = (path: string) => new URL(path, target.baseUrl)

describe('the API', () => {
  it('has no CORS headers, so no page of another origin can call it', async () => {
    for (const method of ['OPTIONS', 'POST']) {
      const { headers } = await ask(method, at('/api/v1/tokens'), { Origin: 'https://evil.example' })
      for (const name of Object.keys(headers)) expect(name).not.toMatch(/^access-control-/)
    }
  })

  it('takes no session for a key', async () => {
    const { status } = await ask('GET', at('/api/v1/pipes'), { Cookie: 'next-auth.session-token=x' })
    expect(status).toBe(401)
  })

  it('tells nothing of a Pipe that is not there or not yours', async () => {
    const { status } = await target.api('GET', `/pipes/pipe_${'a'.repeat(20)}`)
    expect(status).toBe(404)
  })
})

describe('signing in', () => {
  it('without the token of its own page does nothing', async () => {
    const body = `email=${encodeURIComponent(target.email)}&password=${encodeURIComponent(target.password)}`
    const fields = { 'Content-Type': 'application/x-www-form-urlencoded', Origin: 'https://evil.example' }
    const answer = await ask('POST', at('/api/auth/callback/credentials'), fields, body)
    expect(answer.headers['set-cookie'] ?? '').not.toMatch(/session-token=[^;]/)
  })

  it.each(['https://evil.example/', '//evil.example/', '/\\evil.example', 'https:evil.example'])(
    'does not lead elsewhere: %s',
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

it('the metrics are for those who know their token', async () => {
  expect((await ask('GET', at('/metrics'))).status).toBe(401)
  expect((await ask('GET', at('/metrics'), { Authorization: `Bearer ${target.metricsToken}` })).status).toBe(
    200,
  )
})

it('who guesses too often is told when to come back', async () => {
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
