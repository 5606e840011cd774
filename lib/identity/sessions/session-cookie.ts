const NAME = 'next-auth.session-token'
const HOST_NAME = `__Host-${NAME}`
const OLDER_NAME = `__Secure-${NAME}`

export const SESSION_COOKIES = [HOST_NAME, OLDER_NAME, NAME]

export type SessionCookie = {
  name: string
  /** Read where the other is missing, and never written. */
  olderName: string | undefined
  options: { httpOnly: true; sameSite: 'lax'; path: '/'; secure: boolean }
}

/**
 * The cookie of a session. Over HTTPS its name has `__Host-`, which a browser takes only from this host itself: neither a
 * neighbor below the same domain nor anybody on the way, over plain HTTP, can put a session of theirs in its place.
 *
 * Sessions that were opened as `__Secure-` go on until they are over. The token in a cookie says which one it is for, so a
 * newer one cannot be put into the older name, which lacks that protection.
 */
export function sessionCookie(baseUrl: string): SessionCookie {
  const { name, options } = ownCookie(NAME, baseUrl)
  return { name, olderName: options.secure ? OLDER_NAME : undefined, options }
}

/** A cookie that only this host can set, and no script can read. */
export function ownCookie(name: string, baseUrl: string): Pick<SessionCookie, 'name' | 'options'> {
  const secure = baseUrl.startsWith('https:')
  const options = { httpOnly: true, sameSite: 'lax', path: '/', secure } as const
  return { name: secure ? `__Host-${name}` : name, options }
}

export type SessionClaims = {
  /** The id of a row in `sessions`. */
  sid: string
  /** The name of the cookie. Older tokens have none. */
  cookie?: string
}

/** The id of the session that the claims of a token from the cookie of this name stand for. */
export function sessionOfClaims(claims: Record<string, unknown> | null, name: string): string | undefined {
  if (typeof claims?.sid !== 'string') return undefined
  return claims.cookie === undefined || claims.cookie === name ? claims.sid : undefined
}
