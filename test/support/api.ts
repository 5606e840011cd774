import type { DemoDocument } from '#lib/dashboard/demo/ensure-demo.ts'

/** Calls the management API for the demo workspace. */
export async function api<Answer>(
  demo: DemoDocument,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> {
  const response = await fetch(`${demo.baseUrl}/api/v1${path}`, {
    method,
    headers: { Authorization: `Bearer ${demo.accountKey}`, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return response.status === 204 ? (undefined as Answer) : response.json()
}
