import { cookies, headers } from 'next/headers'
import { forbidden, notFound, redirect } from 'next/navigation'
import { decode, encode } from 'next-auth/jwt'
import { cache } from 'react'
import { type Operator, operatorOf } from '#lib/dashboard/operators/steer-workspace.ts'
import type { Actor } from '#lib/identity/audit/record-audit.ts'
import { may, type Right } from '#lib/identity/rights.ts'
import {
  type Person,
  readStanding,
  type Session,
  type Standing,
} from '#lib/identity/sessions/read-session.ts'
import { type SessionClaims, sessionCookie, sessionOfClaims } from '#lib/identity/sessions/session-cookie.ts'
import {
  createSession,
  revokeSession,
  SESSION_MS,
  type SessionOpening,
  type Visitor,
} from '#lib/identity/sessions/sessions.ts'
import { within } from '#lib/platform/kernel/waits.ts'
import { getRuntime } from '#lib/platform/runtime.ts'

const MAX_AGE_SECONDS = SESSION_MS / 1000

const ownCookie = () => sessionCookie(getRuntime().config.baseUrl)

/**
 * The current user. The cookie is next-auth's JWT, which only contains the id of a `sessions` row. That row is read
 * on each request, so that a session can be ended from elsewhere.
 */
export const currentStanding = cache(async (): Promise<Standing | undefined> => {
  const id = await sessionIdOfCookie()
  return id === undefined ? undefined : readStanding(getRuntime(), id)
})

export async function currentSession(): Promise<Session | undefined> {
  const standing = await currentStanding()
  return standing?.state === 'in' ? standing.session : undefined
}

/** The signed-in user, even if no workspace is open. */
export async function currentPerson(): Promise<Person | undefined> {
  const standing = await currentStanding()
  return standing && (standing.state === 'in' ? standing.session : standing.person)
}

async function sessionIdOfCookie(): Promise<string | undefined> {
  const { name, olderName } = ownCookie()
  const jar = await cookies()
  const given = jar.get(name) ?? (olderName === undefined ? undefined : jar.get(olderName))
  if (!given?.value) return undefined
  const claims = await decode({ token: given.value, secret: getRuntime().config.authSecret }).catch(
    () => null,
  )
  return sessionOfClaims(claims, given.name)
}

const PATIENCE_MS = 1500

/** For pages that need no data. While the database is down, these pages treat everyone as signed out. */
export async function sessionIfKnown(): Promise<Session | undefined> {
  const session = await within(PATIENCE_MS, currentSession()).catch(() => undefined)
  return session === 'late' ? undefined : session
}

/** Where users without an open workspace go to complete the remaining steps of signing in. */
const PAGE_OF = {
  no_workspace: '/workspaces',
  code_due: '/second-factor',
  factor_due: '/second-factor',
} as const

/** For actions: redirects to sign-in if there is no session. The action then checks the rights. */
export async function enteredSession(): Promise<Session> {
  const standing = await currentStanding()
  if (!standing) redirect('/login')
  if (standing.state !== 'in') redirect(PAGE_OF[standing.state])
  return standing.session
}

/** For pages that need no workspace. Users who still have to enter a second-factor code must do so first. */
export async function requirePerson(): Promise<Person> {
  const standing = await currentStanding()
  if (!standing) redirect('/login')
  if (standing.state === 'code_due') redirect(PAGE_OF.code_due)
  return standing.state === 'in' ? standing.session : standing.person
}

/** For the console: everyone else gets a 404. */
export async function requireOperator(): Promise<Operator> {
  const standing = await currentStanding()
  if (!standing) redirect('/login')
  if (standing.state === 'code_due') redirect(PAGE_OF.code_due)
  const person = standing.state === 'in' ? standing.session : standing.person
  return operatorOf(getRuntime().config, person) ?? notFound()
}

/** For dashboard pages, which name the right that they require. */
export async function requireSession(right: Right): Promise<Session> {
  const session = await enteredSession()
  if (!may(session.actor, right)) forbidden()
  return session
}

/** The actor on whose behalf verbs run. */
export async function currentActor(right: Right): Promise<Actor> {
  return (await requireSession(right)).actor
}

/** The address that sign-in limits and the session list use; the front door has already validated X-Forwarded-For. */
export async function visitor(): Promise<Visitor & { address: string }> {
  const sent = await headers()
  const address = sent.get('x-forwarded-for') ?? ''
  return { userAgent: sent.get('user-agent'), address: /^[\da-f.:]+$/i.test(address) ? address : '0.0.0.0' }
}

/** Opens a session after sign-in or sign-up with one of our own forms. */
export async function openSession(userId: string, opening: SessionOpening = {}): Promise<void> {
  const { config, ...runtime } = getRuntime()
  const session = await createSession(runtime, userId, await visitor(), opening)
  const { name, olderName, options } = ownCookie()
  const token = await encode({
    token: { sid: session.id, cookie: name } satisfies SessionClaims,
    secret: config.authSecret,
    maxAge: MAX_AGE_SECONDS,
  })
  const store = await cookies()
  store.set(name, token, { ...options, expires: session.expiresAt })
  if (olderName !== undefined) store.set(olderName, '', { ...options, expires: new Date(0) })
}

export async function closeSession(): Promise<void> {
  const person = await currentPerson()
  if (person) await revokeSession(getRuntime(), person, person.id)
  const store = await cookies()
  const { name, olderName, options } = ownCookie()
  // A browser only deletes a `__Secure-` or `__Host-` cookie if the response that expires it is also marked secure.
  for (const ended of [name, olderName])
    if (ended !== undefined) store.set(ended, '', { ...options, expires: new Date(0) })
}
