import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { identities, members, users, workspaces } from '#drizzle/schema/index.ts'
import { hashPassword } from '#lib/identity/accounts/password.ts'
import { createAccount } from '#lib/identity/accounts/users.ts'
import type { DatabaseHandle } from '#lib/platform/db/database.ts'
import { systemClock } from '#lib/platform/kernel/clock.ts'
import { openTestDatabase } from '../../test/support/databases.ts'
import { type OpenIdProvider, startOpenIdProvider } from '../../test/support/open-id-provider.ts'
import { freePort } from '../../test/support/postgres.ts'
import { actionIds } from '../../test/support/session.ts'
import { type Sluice, startSluice, temporaryFolder } from '../../test/support/sluice.ts'

/** Signs in through a real OpenID Connect provider, as a browser would. */
const PASSWORD = 'correct horse battery'
const folder = temporaryFolder()
let database: DatabaseHandle & { url: string }
let provider: OpenIdProvider
let sluice: Sluice
beforeAll(async () => {
  database = await openTestDatabase()
  const port = await freePort()
  const baseUrl = `http://localhost:${port}`
  provider = await startOpenIdProvider({ redirectUri: `${baseUrl}/api/auth/callback/oidc` })
  sluice = await startSluice({
    DATABASE_URL: database.url,
    DATA_DIR: folder.path,
    HOST: '127.0.0.1',
    PORT: String(port),
    BASE_URL: baseUrl,
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    AUTH_SECRET: 'a secret of thirty-two characters',
    ALLOWED_PRIVATE_HOSTS: '*',
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: provider.client.id,
    OIDC_CLIENT_SECRET: provider.client.secret,
    OIDC_NAME: 'Example SSO',
  })
})
afterAll(async () => {
  await sluice?.stop()
  provider?.close()
  await database?.close()
  folder[Symbol.dispose]()
})

let people = 0
/** Makes the provider sign in a new user. */
function atProvider({ email_verified = true, email = '' } = {}) {
  const sub = `person-${++people}`
  Object.assign(provider.person, { sub, email: email || `${sub}@example.com`, email_verified, name: 'Pat' })
  return { ...provider.person }
}

/** Handles cookies and redirects like a browser. */
function browser() {
  const jars = new Map<string, Map<string, string>>()
  const jarOf = (url: string | URL) => {
    const { origin } = new URL(url)
    if (!jars.has(origin)) jars.set(origin, new Map())
    return jars.get(origin)!
  }
  async function ask(url: string | URL, init: RequestInit = {}) {
    const Cookie = [...jarOf(url)].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { ...init.headers, Cookie }
    const response = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const set of response.headers.getSetCookie()) {
      const [name, value] = set.split(';')[0]!.split(/=(.*)/s)
      if (value && !/expires=Thu, 01 Jan 1970/i.test(set) && !/max-age=0\b/i.test(set))
        jarOf(url).set(name!, value)
      else jarOf(url).delete(name!)
    }
    return response
  }
  const pathOf = (response: Response) => {
    const { pathname, search } = new URL(response.headers.get('location')!, sluice.baseUrl)
    return pathname + search
  }
  const self = {
    ask,
    cookies: () => [...jarOf(sluice.baseUrl).keys()],
    /** Returns the provider's address that the sign-in button leads to. */
    async begin(): Promise<URL> {
      // Forgets the provider's session, so that the currently selected user signs in, not the previous one.
      jars.delete(provider.issuer)
      const { csrfToken } = (await (await ask(`${sluice.baseUrl}/api/auth/csrf`)).json()) as {
        csrfToken: string
      }
      const body = new URLSearchParams({ csrfToken, callbackUrl: '/dashboard', json: 'true' })
      const response = await ask(`${sluice.baseUrl}/api/auth/signin/oidc`, { method: 'POST', body })
      return new URL(((await response.json()) as { url: string }).url)
    },
    /** Follows the provider's pages, and returns the address that it redirects back to. */
    async throughProvider(start: URL): Promise<URL> {
      let at = start
      while (at.origin === provider.issuer) {
        const location = (await ask(at)).headers.get('location')
        if (!location) throw new Error(`The provider does not redirect from ${at.pathname}.`)
        at = new URL(location, at)
      }
      return at
    },
    /** Follows the redirects after the callback, and returns the path where they end. */
    async comeBack(callback: URL): Promise<string> {
      let path = pathOf(await ask(callback))
      while (path.startsWith('/api/auth/')) path = pathOf(await ask(new URL(path, sluice.baseUrl)))
      const { pathname, searchParams } = new URL(path, sluice.baseUrl)
      return searchParams.has('error') ? `${pathname}?error=${searchParams.get('error')}` : pathname
    },
    async signIn(): Promise<string> {
      return self.comeBack(await self.throughProvider(await self.begin()))
    },
    async open(path: string): Promise<number | string> {
      const response = await ask(new URL(path, sluice.baseUrl))
      return response.status === 200 ? 200 : pathOf(response)
    },
    async signInByPassword(email: string) {
      const { csrfToken } = (await (await ask(`${sluice.baseUrl}/api/auth/csrf`)).json()) as {
        csrfToken: string
      }
      const body = new URLSearchParams({ csrfToken, email, password: PASSWORD })
      await ask(`${sluice.baseUrl}/api/auth/callback/credentials`, { method: 'POST', body })
    },
    /** Calls the action behind the Connect button as the page's script does. */
    async wishToConnect(password: string): Promise<string> {
      const form = new FormData()
      form.append('_1_password', password)
      form.append('0', JSON.stringify(['oidc', {}, '$K1']))
      const headers = { 'Next-Action': actionIds().get('connect')!, Origin: sluice.baseUrl }
      const path = `${sluice.baseUrl}/dashboard/settings/security`
      return (await ask(path, { method: 'POST', headers, body: form })).text()
    },
  }
  return self
}

const userOf = async (email: string) =>
  (await database.db.select().from(users).where(eq(users.email, email)))[0]
const identitiesOf = async (userId: string) =>
  database.db.select().from(identities).where(eq(identities.userId, userId))

async function withPassword(): Promise<{ userId: string; email: string }> {
  const email = `password-${++people}@example.com`
  const account = { email, passwordHash: await hashPassword(PASSWORD), emailVerified: true }
  const { userId } = await createAccount({ db: database.db, clock: systemClock }, account)
  return { userId, email }
}

it("shows the provider's name on the sign-in page, creates an account for a new user, and later signs in to the same one", async () => {
  const page = await (await fetch(`${sluice.baseUrl}/login`)).text()
  expect(page).toMatch(/Continue with (<!-- -->)?Example SSO/)
  const { email, sub } = atProvider()
  const visitor = browser()
  const start = await visitor.begin()
  expect(Object.fromEntries(start.searchParams)).toMatchObject({
    scope: 'openid email profile',
    response_type: 'code',
    code_challenge_method: 'S256',
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    nonce: expect.stringMatching(/^[\w-]{43}$/),
    state: expect.stringMatching(/^[\w-]{43}$/),
  })
  expect(await visitor.comeBack(await visitor.throughProvider(start))).toBe('/dashboard')
  expect(await visitor.open('/dashboard')).toBe(200)
  const user = (await userOf(email))!
  expect(user).toMatchObject({ name: 'Pat', emailVerifiedAt: expect.any(Date), passwordHash: null })
  provider.person.email = 'renamed@example.com'
  expect(await browser().signIn()).toBe('/dashboard')
  expect(await identitiesOf(user.id)).toMatchObject([{ providerAccountId: `${provider.issuer} ${sub}` }])
  expect(await userOf('renamed@example.com')).toBeUndefined()
})

it('rejects a sign-in that somebody else started, that was tampered with, or that has already ended', async () => {
  const { email } = atProvider()
  const refused = '/login?error=OAuthCallback'
  const changed = async (where: 'there' | 'back', name: string, value: string) => {
    const visitor = browser()
    const start = await visitor.begin()
    if (where === 'there') start.searchParams.set(name, value)
    const callback = await visitor.throughProvider(start)
    if (where === 'back') callback.searchParams.set(name, value)
    expect(await visitor.comeBack(callback), `${name} ${where}`).toBe(refused)
    expect(await visitor.open('/dashboard')).toContain('/login')
  }
  await changed('there', 'nonce', 'n'.repeat(43))
  await changed('there', 'code_challenge', 'c'.repeat(43))
  await changed('there', 'state', 's'.repeat(43))
  await changed('back', 'state', 's'.repeat(43))
  await changed('back', 'iss', 'https://another.example.com')
  await changed('back', 'code', 'c'.repeat(43))
  const mine = browser()
  const callback = await mine.throughProvider(await mine.begin())
  const another = browser()
  await another.begin()
  expect(await another.comeBack(callback), 'in another browser').toBe(refused)
  expect(await mine.comeBack(callback)).toBe('/dashboard')
  const fresh = browser()
  await fresh.begin()
  expect(await mine.comeBack(callback), 'a second time').toBe(refused)
  expect((await identitiesOf((await userOf(email))!.id)).length).toBe(1)
})

it('rejects users whose address the provider has not verified', async () => {
  const { email } = atProvider({ email_verified: false })
  const visitor = browser()
  expect(await visitor.signIn()).toBe('/login?error=not_verified')
  expect(await visitor.open('/dashboard')).toContain('/login')
  expect(await userOf(email)).toBeUndefined()
})

it('does not connect an account with the same address automatically, and lets its owner connect it while signed in', async () => {
  const { userId, email } = await withPassword()
  atProvider({ email })
  const stranger = browser()
  expect(await stranger.signIn()).toBe('/login?error=address_taken')
  const owner = browser()
  await owner.signInByPassword(email)
  // Signing in through the provider connects nothing unless the owner has requested it.
  expect(await owner.signIn()).toBe('/login?error=address_taken')
  expect(await owner.wishToConnect('not the password')).toContain('Does not match your password')
  expect(await owner.signIn()).toBe('/login?error=address_taken')
  expect(await identitiesOf(userId)).toEqual([])

  await owner.wishToConnect(PASSWORD)
  expect(await owner.signIn()).toBe('/dashboard')
  expect(await identitiesOf(userId)).toHaveLength(1)
  expect(owner.cookies()).not.toContain('sluice.connect')
  expect(await stranger.signIn()).toBe('/dashboard')
  expect(await stranger.open('/dashboard')).toBe(200)
})

it("does not connect a different address, an unverified one, or another user's", {
  tags: 'long',
}, async () => {
  const { userId, email } = await withPassword()
  const owner = browser()
  await owner.signInByPassword(email)
  const connect = async () => {
    expect(await owner.wishToConnect(PASSWORD)).toContain('"status":"done"')
    expect(owner.cookies()).toContain('sluice.connect')
    return owner.signIn()
  }
  atProvider()
  expect(await connect()).toBe('/dashboard/settings/security?error=other_address')
  atProvider({ email, email_verified: false })
  expect(await connect()).toBe('/dashboard/settings/security?error=not_verified')
  atProvider()
  expect(await browser().signIn()).toBe('/dashboard')
  provider.person.email = email
  expect(await connect()).toBe('/dashboard/settings/security?error=connected_elsewhere')
  expect(await identitiesOf(userId)).toEqual([])
  // A connection requested in another session is ignored.
  atProvider({ email })
  await owner.wishToConnect(PASSWORD)
  const other = await withPassword()
  await owner.signInByPassword(other.email)
  expect(await owner.signIn()).toBe('/login?error=address_taken')
})

it('asks for the second factor that a workspace requires, like every other way to sign in', async () => {
  const { email } = atProvider()
  const visitor = browser()
  await visitor.signIn()
  const { id: userId } = (await userOf(email))!
  const [member] = await database.db.select().from(members).where(eq(members.userId, userId))
  await database.db
    .update(workspaces)
    .set({ requireSecondFactor: true })
    .where(eq(workspaces.id, member!.workspaceId))
  expect(await visitor.open('/dashboard')).toBe('/second-factor')
  const again = browser()
  await again.signIn()
  expect(await again.open('/dashboard')).toBe('/second-factor')
})

it('writes no code, token or secret to the log', () => {
  const log = sluice.output()
  expect(log).toContain('OAUTH_CALLBACK')
  expect(log).not.toContain(provider.client.secret)
  expect(log).not.toMatch(/eyJ[\w-]{10,}\./)
})
