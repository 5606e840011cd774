import { listKit } from '#lib/dashboard/embed/kit.ts'
import { getRuntime } from '#lib/platform/runtime.ts'

export const dynamic = 'force-dynamic'

export function GET(): Response {
  return listKit(getRuntime().config.baseUrl)
}
