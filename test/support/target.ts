import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DemoDocument } from '#lib/dashboard/demo/ensure-demo.ts'

/** A running Sluice for tests: the one described by the demo.json at the path TARGET, or one started for them. */
export type Target = DemoDocument & {
  /** Requests an upload token like a customer's backend. */
  token(fields?: object): Promise<{ token: string; uploadUrl: string }>
  /** Calls the management API. */
  api<T>(method: string, path: string, body?: object): Promise<{ status: number; body: T }>
}

export const readDemo = (dataDir: string): DemoDocument =>
  JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'))

export function targetOf(demo: DemoDocument): Target {
  const call = async (method: string, path: string, key: string, body?: object) => {
    const answer = await fetch(`${demo.baseUrl}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) }
  }
  return {
    ...demo,
    async token(fields = {}) {
      const body = { pipeId: demo.pipeId, ...fields }
      const answer = await call('POST', '/tokens', demo.senderToken, body)
      if (answer.status !== 201) throw new Error(`No token: ${answer.status} ${JSON.stringify(answer.body)}`)
      return answer.body
    },
    api: (method, path, body) => call(method, path, demo.accountKey, body),
  }
}
