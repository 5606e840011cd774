import NextAuth from 'next-auth'
import { authOptions } from '../../../auth-options.ts'

export const dynamic = 'force-dynamic'

type Context = { params: Promise<{ nextauth: string[] }> }

const answer = (request: Request, context: Context) =>
  NextAuth(request as never, context as never, authOptions())

export { answer as GET, answer as POST }
