import { resolve } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EVENT_KINDS, type EventKind } from '#drizzle/schema/pipes.ts'
import { openTestDatabase } from '../../../test/support/databases.ts'
import { dispatching } from '../../../test/support/dispatching.ts'
import { type Received, startReceiver } from '../../../test/support/receiver.ts'
import { type Case, canRun, runSnippet } from '../../../test/support/run-snippet.ts'
import { testRuntime } from '../../../test/support/runtime.ts'
import { createTestWorkspace } from '../../../test/support/workspace.ts'
import { newWebhookSecret } from '../../platform/kernel/ids.ts'
import { parseInput } from '../../platform/kernel/parse-input.ts'
import { sendTestEvent } from '../log/send-test-event.ts'
import { createOutput, saveOutput } from '../outputs/save-output.ts'
import { rotateSecret } from '../outputs/signing-secrets.ts'
import { outputInput, webhookOutputInput } from '../outputs/webhook-output.ts'
import { verificationSnippets } from './verification-snippets.ts'

const HOUR = 3_600_000
/** Go's first run compiles its standard library. */
const COMPILE_MS = 240_000
const snippets = await verificationSnippets()
const NEVER = Number.POSITIVE_INFINITY
type Sent = { request: Received; first: string; second: string }

/** Real deliveries as received, with their output's secrets before and after its rotation. */
let sent: { before: Sent; during: Sent; after: Sent; stale: Sent }
let kinds: { kind: EventKind; request: Received; secret: string }[]
let close: () => Promise<void>

beforeAll(async () => {
  const database = await openTestDatabase()
  const receiver = await startReceiver()
  close = async () => {
    await receiver.stop()
    await database.close()
  }
  const runtime = testRuntime(database)
  const { event, work } = dispatching(runtime)
  const now = Date.now()
  const at = (ms: number) => runtime.clock.advance(ms - runtime.clock.now())

  async function deliver(rotatedAt: number, deliveredAt: number): Promise<Sent> {
    at(now - 30 * HOUR)
    const { actor, pipe, workspaceId } = await createTestWorkspace(runtime)
    const input = parseInput(webhookOutputInput, { url: receiver.url })
    const { secret: first } = await saveOutput(runtime, actor, pipe.id, input)
    let second = newWebhookSecret()
    if (rotatedAt !== NEVER) {
      at(rotatedAt)
      second = (await rotateSecret(runtime, actor, { firstOf: pipe.id })).secret
    }
    at(deliveredAt)
    await event({ workspaceId, pipeId: pipe.id })
    await work()
    return { request: receiver.received.at(-1)!, first: first!, second }
  }
  sent = {
    before: await deliver(NEVER, now),
    during: await deliver(now - HOUR, now),
    after: await deliver(now - 25 * HOUR, now),
    stale: await deliver(NEVER, now - 301_000),
  }
  at(now)
  const { actor } = await createTestWorkspace(runtime)
  const { id, secret } = await createOutput(
    runtime,
    actor,
    {},
    parseInput(outputInput, { url: receiver.url }),
  )
  kinds = []
  for (const kind of EVENT_KINDS) {
    await sendTestEvent(runtime, actor, { outputId: id }, { event: kind })
    await work()
    kinds.push({ kind, request: receiver.received.at(-1)!, secret })
  }
})
afterAll(() => close())

/** The cases, each with its expected result. A wrong secret is one with which the webhook was not signed. */
function cases(): { name: string; request: Received; secret: string; accepted: boolean }[] {
  const { before, during, after, stale } = sent
  const changed = { ...before.request, body: before.request.body.replace('film', 'fiIm') }
  return [
    { name: 'the secret before a rotation', request: before.request, secret: before.first, accepted: true },
    {
      name: 'the old secret during a rotation',
      request: during.request,
      secret: during.first,
      accepted: true,
    },
    {
      name: 'the new secret during a rotation',
      request: during.request,
      secret: during.second,
      accepted: true,
    },
    { name: 'the new secret after a rotation', request: after.request, secret: after.second, accepted: true },
    { name: 'the old secret after a rotation', request: after.request, secret: after.first, accepted: false },
    ...kinds.map(({ kind, ...rest }) => ({ name: `a ${kind} event`, ...rest, accepted: true })),
    { name: 'a changed byte', request: changed, secret: before.first, accepted: false },
    { name: 'an old timestamp', request: stale.request, secret: stale.first, accepted: false },
    { name: 'a wrong secret', request: before.request, secret: before.second, accepted: false },
  ]
}
const wanted = () => Object.fromEntries(cases().map(({ name, accepted }) => [name, accepted]))

it('agrees with the standardwebhooks package', () => {
  const verdict = ({ request, secret }: { request: Received; secret: string }) => {
    try {
      new Webhook(secret).verify(request.body, request.headers as Record<string, string>)
      return true
    } catch {
      return false
    }
  }
  expect(Object.fromEntries(cases().map((one) => [one.name, verdict(one)]))).toEqual(wanted())
})

const MALFORMED = ['', 't=1', 'v1=00', 't=,v1=', 't=now,v1=zz', ',,=,', 't=99999999999999999999,v1=00']

describe('a verification snippet', () => {
  for (const { language, filename } of snippets) {
    it(`agrees in ${language}, and survives malformed headers`, { timeout: COMPILE_MS }, ({ skip }) => {
      if (!canRun(language)) return skip(`${language} is not installed on this machine.`)
      const headerOf = ({ headers }: Received) => String(headers['x-service-signature'])
      const real: Case[] = cases().map(({ request, secret }) => ({
        body: request.body,
        header: headerOf(request),
        secret,
      }))
      const malformed = MALFORMED.map((header) => ({ ...real[0]!, header }))
      const answers = runSnippet(language, resolve('lib/webhooks/signature/snippets', filename), [
        ...real,
        ...malformed,
      ])
      expect(Object.fromEntries(cases().map(({ name }, n) => [name, answers[n]]))).toEqual(wanted())
      expect(answers.slice(real.length)).toEqual(MALFORMED.map(() => false))
    })
  }
})
