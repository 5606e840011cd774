import type { NextAuthOptions, User } from 'next-auth'
import Credentials from 'next-auth/providers/credentials'
import GitHub from 'next-auth/providers/github'
import Google from 'next-auth/providers/google'
import {
  connectProvider,
  type ProviderId,
  type ProviderProfile,
  type ProviderRefused,
  signInWithProvider,
  toProviderProfile,
} from '#lib/identity/accounts/providers.ts'
import { signIn, signInInput } from '#lib/identity/accounts/sign-in.ts'
import { readSession } from '#lib/identity/sessions/read-session.ts'
import { ownCookie, sessionCookie } from '#lib/identity/sessions/session-cookie.ts'
import { createSession, revokeSession, SESSION_MS } from '#lib/identity/sessions/sessions.ts'
import { isSluiceError, type SluiceError } from '#lib/platform/kernel/errors.ts'
import { isUuid } from '#lib/platform/kernel/ids.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { setAuthUrl } from '#lib/platform/settings/config.ts'
import { takeWishToConnect } from './connecting.ts'
import { openIdConnect } from './open-id-connect.ts'
import { visitor } from './session.ts'

type SignedIn = User & { sid?: string }

/** Carries the reason past next-auth, which can only accept or reject a sign-in. */
export type Refusal = { error?: SluiceError }

/** next-auth with our own sessions: its token only contains the id of a `sessions` row. */
export function authOptions(refusal: Refusal = {}): NextAuthOptions {
  const { config, log } = getRuntime()
  setAuthUrl(config.baseUrl)
  const cookie = sessionCookie(config.baseUrl)
  return {
    secret: config.authSecret,
    session: { strategy: 'jwt', maxAge: SESSION_MS / 1000 },
    cookies: { sessionToken: cookie, ...roundTripCookies(config.baseUrl) },
    pages: { signIn: '/login', signOut: '/login', error: '/login' },
    providers: [
      Credentials({
        credentials: { email: { type: 'email' }, password: { type: 'password' } },
        authorize: (given) => authorize(given, refusal),
      }),
      ...(config.github ? [GitHub(config.github)] : []),
      ...(config.google ? [Google(config.google)] : []),
      ...(config.oidc ? [openIdConnect(config.oidc)] : []),
    ],
    callbacks: {
      async signIn({ user, account, profile }) {
        if (!account || account.provider === 'credentials') return true
        const { email, name } = user
        const { providerAccountId } = account
        const provider = account.provider as ProviderId
        return enterByProvider(user, toProviderProfile({ provider, providerAccountId, email, name }, profile))
      },
      jwt: ({ token, user }) => ({
        sid: (user as SignedIn | undefined)?.sid ?? token.sid,
        cookie: cookie.name,
      }),
      async session({ session, token }) {
        const found = typeof token.sid === 'string' ? await readSession(getRuntime(), token.sid) : undefined
        if (!found) return {} as typeof session
        return { expires: session.expires, user: { email: found.email, name: found.name } }
      },
    },
    events: {
      async signOut({ token }) {
        const id = typeof token?.sid === 'string' && isUuid(token.sid) ? token.sid : undefined
        const found = id && (await readSession(getRuntime(), id))
        if (found) await revokeSession(getRuntime(), found, found.id)
      },
    },
    logger: {
      // The log leaves out the provider's response, which a library error may contain.
      error: (code, metadata) =>
        log.error({ code, err: metadata instanceof Error ? metadata : metadata.error }, 'sign-in'),
      warn: (code) => log.debug({ code }, 'sign-in'),
      debug: () => {},
    },
  }
}

async function authorize(given: unknown, refusal: Refusal): Promise<SignedIn | null> {
  const { email, password } = (given ?? {}) as Record<string, unknown>
  const { address, userAgent } = await visitor()
  try {
    const input = parseInput(signInInput, { email, password })
    const { userId, passwordHash } = await signIn(getRuntime(), input, address)
    const visit = { address, userAgent }
    const { id: sid } = await createSession(getRuntime(), userId, visit, { passwordHash })
    return { id: userId, sid }
  } catch (error) {
    if (!isSluiceError(error)) throw error
    refusal.error = error
    return null
  }
}

/**
 * Cookies that tie a provider's redirect back to the sign-in that started it. Only this host can set them, so nobody on
 * a subdomain can make a visitor complete a sign-in that someone else started.
 */
function roundTripCookies(baseUrl: string): NextAuthOptions['cookies'] {
  const named = (name: string) => ownCookie(`next-auth.${name}`, baseUrl)
  return { state: named('state'), pkceCodeVerifier: named('pkce.code_verifier'), nonce: named('nonce') }
}

const SECURITY = '/dashboard/settings/security'

/** Returns true to allow the sign-in, or an address to redirect to that contains the reason. */
async function enterByProvider(user: SignedIn, profile: ProviderProfile): Promise<true | string> {
  const connecting = await takeWishToConnect(profile.provider)
  try {
    if (connecting) {
      await connectProvider(getRuntime(), connecting, profile)
      user.sid = connecting.id
      return true
    }
    const { userId } = await signInWithProvider(getRuntime(), profile)
    user.sid = (await createSession(getRuntime(), userId, await visitor())).id
    return true
  } catch (error) {
    if (!isSluiceError(error)) throw error
    const reason = (error as Partial<ProviderRefused>).reason ?? 'AccessDenied'
    return `${connecting ? SECURITY : '/login'}?error=${reason}`
  }
}
