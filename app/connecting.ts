import { cookies } from 'next/headers'
import { decode, encode } from 'next-auth/jwt'
import type { ProviderId } from '#lib/identity/accounts/providers.ts'
import type { Session } from '#lib/identity/sessions/read-session.ts'
import { ownCookie } from '#lib/identity/sessions/session-cookie.ts'
import { minutes } from '#lib/platform/kernel/clock.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { currentSession } from './session.ts'

const SALT = 'sluice.connect'
const MAX_AGE_SECONDS = minutes(10) / 1000

/**
 * A signed-in user's request to connect a provider, kept in a cookie during the round trip. Without it, a provider
 * can only sign users in, so no other site can connect its own account to a visitor's.
 */
export async function wishToConnect({ id }: Session, provider: ProviderId): Promise<void> {
  const { authSecret: secret } = getRuntime().config
  const wish = { sid: id, provider }
  const token = await encode({ token: wish, secret, salt: SALT, maxAge: MAX_AGE_SECONDS })
  const { name, options } = ownCookie(SALT, getRuntime().config.baseUrl)
  ;(await cookies()).set(name, token, { ...options, maxAge: MAX_AGE_SECONDS })
}

/** The session that requested the connection, if it is still the current one. Each request works only once. */
export async function takeWishToConnect(provider: ProviderId): Promise<Session | undefined> {
  const { authSecret: secret, baseUrl } = getRuntime().config
  const { name, options } = ownCookie(SALT, baseUrl)
  const jar = await cookies()
  const token = jar.get(name)?.value
  if (!token) return undefined
  jar.set(name, '', { ...options, expires: new Date(0) })
  const wish = await decode({ token, secret, salt: SALT }).catch(() => null)
  const session = await currentSession()
  return session && wish?.sid === session.id && wish.provider === provider ? session : undefined
}
