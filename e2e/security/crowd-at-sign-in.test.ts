/** @module-tag long */
import { expect, it } from 'vitest'
import { ask } from '../../test/support/raw-http.ts'
import { cookiesOf } from '../../test/support/session.ts'
import { startSluice, temporaryFolder } from '../../test/support/sluice.ts'
import { readDemo } from '../../test/support/target.ts'

const CROWD = 60

it('rejects some of many simultaneous sign-ins with 503, and keeps other requests from waiting for them', async () => {
  using folder = temporaryFolder()
  const sluice = await startSluice({
    DATA_DIR: folder.path,
    ROLES: 'web,upload',
    TRUSTED_PROXIES: '127.0.0.1',
  })
  const { email, password } = readDemo(folder.path)
  const at = (path: string) => new URL(path, sluice.baseUrl)
  const csrf = await ask('GET', at('/api/auth/csrf'))
  const { csrfToken } = JSON.parse(csrf.body)
  const form = { 'Content-Type': 'application/x-www-form-urlencoded', Cookie: cookiesOf(csrf) }
  const signIn = (name: string, secret: string, network: number) => {
    const body = new URLSearchParams({ csrfToken, email: name, password: secret, json: 'true' }).toString()
    const headers = { ...form, 'X-Forwarded-For': `2001:db8:${network.toString(16)}::1` }
    return ask('POST', at('/api/auth/callback/credentials'), headers, body)
  }

  let over = false
  const crowd = Promise.all(
    Array.from({ length: CROWD }, (_, n) => signIn(`nobody-${n}@example.com`, 'a guess', n + 1)),
  ).finally(() => {
    over = true
  })
  // This request reads a file and queries the database, and both of these need other threads.
  const page = await ask('GET', at('/favicon.svg'))
  const [aloneOver, answers] = [over, await crowd]
  expect(page.status).toBe(200)
  expect(aloneOver).toBe(false)

  const refused = answers.filter(({ status }) => status === 503)
  expect(answers.filter(({ status }) => status !== 503 && status !== 401)).toEqual([])
  expect(refused.length).toBeGreaterThan(0)
  expect(refused.length).toBeLessThan(CROWD)
  for (const { headers, body } of refused) {
    expect(headers['retry-after']).toBe('2')
    expect(JSON.parse(body)).toMatchObject({ code: 'unavailable' })
  }
  expect(cookiesOf(await signIn(email, password, 1))).toMatch(/session-token=./)
  expect(await sluice.stop()).toBe(0)
})
