import NextAuth from 'next-auth'
import { toProblem } from '#lib/platform/http/problem.ts'
import { isSluiceError, SluiceError } from '#lib/platform/kernel/errors.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { authOptions, type Refusal } from '../../../auth-options.ts'
import { assertWellFormed } from './assert-well-formed.ts'

export const dynamic = 'force-dynamic'

type Context = { params: Promise<{ nextauth: string[] }> }

async function answer(request: Request, context: Context): Promise<Response> {
  const { baseUrl } = getRuntime().config
  try {
    assertUsed(request.method, (await context.params).nextauth)
    await assertWellFormed(request, baseUrl)
  } catch (error) {
    return refuse(error, { 'Set-Cookie': forgetCallback(baseUrl) })
  }
  const refusal: Refusal = {}
  const answered = await NextAuth(request as never, context as never, authOptions(refusal))
  const { error } = refusal
  return error && ['rate_limited', 'unavailable'].includes(error.code) ? refuse(error) : answered
}

const ACTIONS: Record<string, string[]> = {
  GET: ['csrf', 'session', 'callback', 'signin', 'signout', 'error'],
  POST: ['signin', 'callback', 'signout'],
}

/** next-auth has more actions: one of them writes whatever anyone sends into the log. */
function assertUsed(method: string, [action = '']: string[]): void {
  if (!ACTIONS[method]?.includes(action)) throw new SluiceError('not_found')
}

function refuse(error: unknown, more: Record<string, string> = {}): Response {
  if (!isSluiceError(error)) throw error
  const { status, headers, body } = toProblem(error, getRuntime().config.baseUrl)
  return new Response(body, { status, headers: { ...headers, ...more } })
}

/** Deletes the callback cookie; otherwise a browser with an invalid one would be rejected on every request. */
function forgetCallback(baseUrl: string): string {
  const secure = baseUrl.startsWith('https:')
  return `${secure ? '__Secure-' : ''}next-auth.callback-url=; Path=/; Max-Age=0${secure ? '; Secure' : ''}`
}

export { answer as GET, answer as POST }
