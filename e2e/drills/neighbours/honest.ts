import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { saveHook } from '#lib/hooks/pipe-hooks.ts'
import { hashPassword } from '#lib/identity/accounts/password.ts'
import { createAccount } from '#lib/identity/accounts/users.ts'
import { createOutput } from '#lib/webhooks/outputs/save-output.ts'
import { outputInput } from '#lib/webhooks/outputs/webhook-output.ts'
import { createPipe } from '#lib/workspace/pipes/create-pipe.ts'
import { pipeInput } from '#lib/workspace/pipes/pipe.ts'
import { type Call, httpCall } from '../../../test/support/http-call.ts'
import { cookiesOf } from '../../../test/support/session.ts'
import { metadata, tusClient } from '../../../test/support/tus-client.ts'
import type { Site } from '../../../test/support/upload-site.ts'

/** A customer who does what customers do, over and over, while someone else attacks. */
export type Action = { everyMs: number; run(): Promise<unknown> }
export type Times = Record<string, number[]>

const PIECE_BYTES = 256 * 1024
const PIECES = 4096
const LATE_MS = 60_000
const PASSWORD = 'correct horse battery'
/** A sign-in counts toward its account's limit, and toward its network's. */
const ACCOUNTS = 20

const ok = async (call: Call) => {
  const reply = await httpCall({ ...call, headers: { 'X-Forwarded-For': '198.51.100.7', ...call.headers } })
  if (reply.status >= 300 && reply.status !== 302) throw new Error(`${call.method}: ${reply.status}`)
  return reply
}

/** A server that tells when it gets a request whose path or body contains a text. */
async function startListener() {
  const awaited = new Map<string, () => void>()
  const server = createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk) => chunks.push(chunk))
    req.on('end', () => {
      const said = `${req.url} ${Buffer.concat(chunks)}`
      for (const [text, arrived] of awaited) if (said.includes(text)) arrived()
      res.end(req.url === '/decide' ? '{"allow":true}' : 'ok')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async hears(text: string): Promise<void> {
      const heard = new Promise<void>((resolve) => awaited.set(text, resolve))
      await heard.finally(() => awaited.delete(text))
    },
  }
}

async function makeAccounts({ runtime }: Site): Promise<string[]> {
  const passwordHash = await hashPassword(PASSWORD)
  const emails = Array.from({ length: ACCOUNTS }, () => `${randomBytes(6).toString('hex')}@example.com`)
  for (const email of emails) await createAccount(runtime, { email, passwordHash, emailVerified: true })
  return emails
}

async function signsIn(baseUrl: string, site: Site): Promise<() => Promise<unknown>> {
  const emails = await makeAccounts(site)
  const csrf = await ok({ method: 'GET', url: `${baseUrl}/api/auth/csrf` })
  const { csrfToken } = JSON.parse(csrf.body)
  let n = 0
  return async () => {
    const email = emails[n++ % emails.length]!
    const headers = {
      'Content-Type': 'application/x-www-form-urlencoded',
      Cookie: cookiesOf({
        ...csrf,
        headers: { 'set-cookie': [csrf.headers['set-cookie']].flat().join(', ') },
      }),
      'X-Forwarded-For': `198.18.${(n >> 8) & 255}.${n & 255}`,
    }
    const body = Buffer.from(new URLSearchParams({ csrfToken, email, password: PASSWORD }).toString())
    const entered = await ok({
      method: 'POST',
      url: `${baseUrl}/api/auth/callback/credentials`,
      headers,
      body,
    })
    if (!/session-token=./.test(String(entered.headers['set-cookie']))) throw new Error('not signed in')
  }
}

/** Everything that must stay quick, by name. */
export async function openHonest(baseUrl: string, site: Site): Promise<Record<string, Action>> {
  const listener = await startListener()
  const { runtime, actor, pipe, sender } = site
  const fields = { name: 'Decided', dataStoreId: site.dataStore.id, source: { http: true } }
  const decided = await createPipe(runtime, actor, pipeInput.parse(fields))
  const hook = {
    url: `${listener.url}/decide`,
    enabled: true,
    timeoutSeconds: 10,
    withoutAnswer: 'refuse',
  } as const
  await saveHook(runtime, actor, { pipeId: decided.id, hook: 'before_complete' }, hook)
  await createOutput(runtime, actor, { pipeId: pipe.id }, outputInput.parse({ url: `${listener.url}/event` }))
  const token = await site.token()
  const client = tusClient({ url: baseUrl, pipeId: pipe.id, token })
  const idle = await client.begin(PIECE_BYTES)
  const open = await client.begin(PIECES * PIECE_BYTES)
  const decidedToken = await site.token({ pipeId: decided.id })
  const [piece, small] = [randomBytes(PIECE_BYTES), randomBytes(500)]
  const json = { 'Content-Type': 'application/json' }
  const post = (path: string, body: object) =>
    ok({
      method: 'POST',
      url: `${baseUrl}/api/v1${path}`,
      token: sender.token,
      headers: json,
      body: Buffer.from(JSON.stringify(body)),
    })
  const name = () => randomBytes(8).toString('hex')
  let sentBytes = 0
  return {
    token: { everyMs: 100, run: () => post('/tokens', { pipeId: pipe.id }) },
    HEAD: { everyMs: 100, run: () => client.head(idle).then(({ status }) => mustBe(200, status)) },
    PATCH: {
      everyMs: 200,
      async run() {
        const { status } = await client.patch(open, sentBytes, piece)
        if (status === 204) sentBytes += piece.length
        else sentBytes = await client.offset(open)
        mustBe(204, status)
      },
    },
    'sign-in': { everyMs: 500, run: await signsIn(baseUrl, site) },
    webhook: {
      everyMs: 300,
      async run() {
        const filename = name()
        const heard = listener.hears(filename)
        await client.create(small.length, { 'Upload-Metadata': metadata({ filename }) }, small)
        await heard
      },
    },
    import: {
      everyMs: 500,
      async run() {
        const path = name()
        const heard = listener.hears(path)
        await post('/imports', { pipeId: pipe.id, url: `${listener.url}/${path}` })
        await heard
      },
    },
    decision: {
      everyMs: 300,
      run: () =>
        ok({
          method: 'PUT',
          url: `${baseUrl}/pipes/${decided.id}/files/${name()}`,
          token: decidedToken,
          body: small,
        }),
    },
  }
}

function mustBe(expected: number, status: number): void {
  if (status !== expected) throw new Error(`status ${status}`)
}

/** Repeats all actions for a while. What fails, or is not over in time, counts as taking a minute. */
export async function measure(actions: Record<string, Action>, forMs: number): Promise<Times> {
  const untilMs = performance.now() + forMs
  const measured = Object.entries(actions).map(async ([name, { everyMs, run }]) => {
    const times: number[] = []
    while (performance.now() < untilMs) {
      const sinceMs = performance.now()
      const failed = run().then(
        () => 0,
        () => LATE_MS,
      )
      const tookMs = await Promise.race([failed, sleep(untilMs + LATE_MS / 4 - sinceMs, LATE_MS)])
      times.push(tookMs || performance.now() - sinceMs)
      await sleep(Math.max(0, everyMs - (performance.now() - sinceMs)))
    }
    return [name, times] as const
  })
  return Object.fromEntries(await Promise.all(measured))
}
