import { handleInboxRequest } from '#lib/dashboard/inbox.ts'
import { getRuntime } from '#lib/platform/runtime.ts'

export const dynamic = 'force-dynamic'

export async function POST(
  request: Request,
  { params }: { params: Promise<{ key: string }> },
): Promise<Response> {
  return handleInboxRequest(getRuntime(), request, (await params).key)
}
