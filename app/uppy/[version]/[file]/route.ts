import { serveUppy } from '#lib/dashboard/embed/kit.ts'
import { getRuntime } from '#lib/platform/runtime.ts'

export const dynamic = 'force-dynamic'

export async function GET(
  _request: Request,
  { params }: { params: Promise<{ version: string; file: string }> },
): Promise<Response> {
  const { version, file } = await params
  return serveUppy(getRuntime().config.baseUrl, version, file)
}
