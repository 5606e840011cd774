const NAME = 'next-auth.session-token'
const HOST_NAME = `__Host-${NAME}`
const OLDER_NAME = `__Secure-${NAME}`

export const SESSION_COOKIES = [HOST_NAME, OLDER_NAME, NAME]

export type SessionCookie = {
  name: string
  /** A cookie with this name is read if the one with the new name is missing. It is never written. */
  olderName: string | undefined
  options: { httpOnly: true; sameSite: 'lax'; path: '/'; secure: boolean }
}

/**
 * The session cookie. Over HTTPS, its name starts with `__Host-`, which a browser only accepts from this host itself:
 * neither another host on the same domain nor an attacker in the middle of a plain HTTP connection can replace it with
 * their own session.
 *
 * Sessions opened with `__Secure-` continue until they end. The token in a cookie contains the name of that cookie, so
 * a newer token cannot be set under the older name, which does not have that protection.
 */
export function sessionCookie(baseUrl: string): SessionCookie {
  const { name, options } = ownCookie(NAME, baseUrl)
  return { name, olderName: options.secure ? OLDER_NAME : undefined, options }
}

/** A cookie that only this host can set and no script can read. */
export function ownCookie(name: string, baseUrl: string): Pick<SessionCookie, 'name' | 'options'> {
  const secure = baseUrl.startsWith('https:')
  const options = { httpOnly: true, sameSite: 'lax', path: '/', secure } as const
  return { name: secure ? `__Host-${name}` : name, options }
}

export type SessionClaims = {
  /** The id of the row in `sessions`. */
  sid: string
  /** The cookie's name. Older tokens have none. */
  cookie?: string
}

/** The session id in the claims of a token, if the token belongs in the cookie with this name. */
export function sessionOfClaims(claims: Record<string, unknown> | null, name: string): string | undefined {
  if (typeof claims?.sid !== 'string') return undefined
  return claims.cookie === undefined || claims.cookie === name ? claims.sid : undefined
}
