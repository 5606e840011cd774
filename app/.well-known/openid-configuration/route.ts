import { discoveryDocument } from '#lib/identity/issuer/statements.ts'
import { getRuntime } from '#lib/platform/runtime.ts'

export function GET(): Response {
  return Response.json(discoveryDocument(getRuntime().config.baseUrl))
}

export const dynamic = 'force-dynamic'
