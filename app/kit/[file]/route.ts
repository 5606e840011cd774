import { serveKit } from '#lib/dashboard/embed/kit.ts'
import { getRuntime } from '#lib/platform/runtime.ts'

export const dynamic = 'force-dynamic'

export async function GET(
  _request: Request,
  { params }: { params: Promise<{ file: string }> },
): Promise<Response> {
  return serveKit(getRuntime().config.baseUrl, (await params).file)
}
