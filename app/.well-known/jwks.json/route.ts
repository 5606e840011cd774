import { publishedKeys } from '#lib/identity/issuer/statements.ts'
import { getRuntime } from '#lib/platform/runtime.ts'

export async function GET(): Promise<Response> {
  return Response.json(await publishedKeys(getRuntime()), {
    headers: { 'Cache-Control': 'public, max-age=3600' },
  })
}

export const dynamic = 'force-dynamic'
