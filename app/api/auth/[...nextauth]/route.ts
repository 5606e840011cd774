import NextAuth from 'next-auth'
import { toProblem } from '#lib/http/problem.ts'
import { isSluiceError } from '#lib/kernel/errors.ts'
import { getRuntime } from '#lib/runtime.ts'
import { authOptions } from '../../../auth-options.ts'
import { assertWellFormed } from './assert-well-formed.ts'

export const dynamic = 'force-dynamic'

type Context = { params: Promise<{ nextauth: string[] }> }

async function answer(request: Request, context: Context): Promise<Response> {
  const { baseUrl } = getRuntime().config
  try {
    await assertWellFormed(request, baseUrl)
  } catch (error) {
    if (!isSluiceError(error)) throw error
    const { status, headers, body } = toProblem(error, baseUrl)
    return new Response(body, { status, headers: { ...headers, 'Set-Cookie': forgetCallback(baseUrl) } })
  }
  return NextAuth(request as never, context as never, authOptions())
}

/** Otherwise a browser that keeps an address which is none would be refused for ever. */
function forgetCallback(baseUrl: string): string {
  const secure = baseUrl.startsWith('https:')
  return `${secure ? '__Secure-' : ''}next-auth.callback-url=; Path=/; Max-Age=0${secure ? '; Secure' : ''}`
}

export { answer as GET, answer as POST }
