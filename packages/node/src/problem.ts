export const NO_STORE = { 'Cache-Control': 'no-store' }

/** A handler's error response (RFC 9457). */
export function problem(
  { status, code, title }: { status: number; code: string; title: string },
  headers: Record<string, string> = {},
): Response {
  const body = JSON.stringify({ type: 'about:blank', title, status, code })
  return new Response(body, {
    status,
    headers: { 'Content-Type': 'application/problem+json', ...NO_STORE, ...headers },
  })
}
