import { toProblem } from '#lib/platform/http/problem.ts'
import { SluiceError } from '#lib/platform/kernel/errors.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { findLogo } from '#lib/upload-links/link-pages.ts'

/** A logo, with the type that its bytes were found to have. The server's policy for its address lets it do nothing. */
export async function GET(
  _: Request,
  { params }: { params: Promise<{ digest: string }> },
): Promise<Response> {
  const runtime = getRuntime()
  const logo = await findLogo(runtime, (await params).digest)
  if (!logo) {
    const { status, headers, body } = toProblem(new SluiceError('not_found'), runtime.config.baseUrl)
    return new Response(body, { status, headers })
  }
  return new Response(logo.bytes, {
    headers: {
      'Content-Type': logo.type,
      'X-Content-Type-Options': 'nosniff',
      'Cross-Origin-Resource-Policy': 'same-origin',
      'Cache-Control': 'public, max-age=31536000, immutable',
    },
  })
}
