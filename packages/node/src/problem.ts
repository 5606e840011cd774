export const NO_STORE = { 'Cache-Control': 'no-store' }

/** What a handler answers where it cannot do what it was asked (RFC 9457). */
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
