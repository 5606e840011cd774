import { ResponseCookies } from 'next/dist/server/web/spec-extension/cookies.js'
import { beforeEach, expect, it, vi } from 'vitest'
import { setRuntime } from '../lib/platform/runtime.ts'
import { testRuntime } from '../test/support/runtime.ts'
import { closeSession } from './session.ts'

const sent = new Headers()
vi.mock('next/headers', () => ({
  cookies: async () => Object.assign(new ResponseCookies(sent), { get: () => undefined }),
  headers: async () => new Headers(),
}))
beforeEach(() => sent.delete('set-cookie'))

it.each([
  ['https://sluice.example.com', '__Host-next-auth.session-token', true],
  ['http://localhost:3000', 'next-auth.session-token', false],
])('expires the cookie for %s at sign-out, so that the browser deletes it', async (baseUrl, name, secure) => {
  setRuntime(testRuntime({} as never, { BASE_URL: baseUrl }))
  await closeSession()
  const line = sent.get('set-cookie')!
  expect(line).toMatch(new RegExp(`^${name}=;.*Expires=Thu, 01 Jan 1970 00:00:00 GMT`))
  expect(line).toContain('Path=/;')
  expect(line.includes('; Secure')).toBe(secure)
})
