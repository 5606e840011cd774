import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

const TIMEOUT_MS = 15_000
const FIRST_DELAY_MS = 250
const MAX_DELAY_MS = 5000
/** How many times to send an event that gets 5xx responses. An unreachable address is tried indefinitely. */
const MAX_TROUBLED = 3

export type Forwarded = { status: number; attempts: number; durationMs: number }
type Target = { url: string; secret: string; signal: AbortSignal; onWait(reason: string): void }

/** Retries until the address has responded, so that a restarting program misses no events. */
export async function forward(
  event: { id: string },
  { url, secret, signal, onWait }: Target,
): Promise<Forwarded | undefined> {
  const body = JSON.stringify(event)
  let troubled = 0
  for (let attempts = 1; ; attempts++) {
    const startedMs = performance.now()
    try {
      const response = await post(url, signedHeaders(secret, event.id, body), body, signal)
      troubled += 1
      if (response.status < 500 || troubled === MAX_TROUBLED)
        return { status: response.status, attempts, durationMs: Math.round(performance.now() - startedMs) }
      onWait(`${url} responded with ${response.status}`)
    } catch (error) {
      if (signal.aborted) return undefined
      onWait(`${url} cannot be reached: ${reasonOf(error)}`)
    }
    await sleep(Math.min(FIRST_DELAY_MS * 2 ** (attempts - 1), MAX_DELAY_MS), undefined, { signal }).catch(
      () => {},
    )
    if (signal.aborted) return undefined
  }
}

async function post(url: string, headers: Record<string, string>, body: string, left: AbortSignal) {
  const signal = AbortSignal.any([left, AbortSignal.timeout(TIMEOUT_MS)])
  const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' })
  await response.body?.cancel()
  return response
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as Error & { cause?: NodeJS.ErrnoException }
  return cause?.code ?? message
}

/** Signs an event as Sluice would, but with a secret that is only used on this machine. */
export function signedHeaders(secret: string, id: string, body: string): Record<string, string> {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const t = Math.floor(Date.now() / 1000)
  const hmac = (text: string) => createHmac('sha256', key).update(text)
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'Sluice-Webhooks/1.0',
    'X-Service-Signature': `t=${t},v1=${hmac(`${t}.${body}`).digest('hex')}`,
    'webhook-id': id,
    'webhook-timestamp': String(t),
    'webhook-signature': `v1,${hmac(`${id}.${t}.${body}`).digest('base64')}`,
  }
}
