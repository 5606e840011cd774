import { eq } from 'drizzle-orm'
import { beforeEach, expect, it, vi } from 'vitest'
import { workspaces } from '#drizzle/schema/index.ts'
import { describeWithDatabase } from '../../test/support/databases.ts'
import { type TestRuntime, testRuntime } from '../../test/support/runtime.ts'
import { createTestWorkspace, type TestWorkspace } from '../../test/support/workspace.ts'
import { newWebhookSecret } from '../platform/kernel/ids.ts'
import { signWebhook } from '../webhooks/signature/signature.ts'
import { pointWebhookAtInbox } from './demo/ensure-demo.ts'
import { createInbox, showInbox } from './inbox.ts'

describeWithDatabase('the inbox', (database) => {
  let runtime: TestRuntime
  let customer: TestWorkspace
  let key: string
  let receive: ReturnType<typeof createInbox>
  const secret = newWebhookSecret()

  beforeEach(async () => {
    runtime = testRuntime(database())
    customer = await createTestWorkspace(runtime)
    receive = createInbox(runtime)
    const { workspaceId } = customer
    const [workspace] = await runtime.db.select().from(workspaces).where(eq(workspaces.id, workspaceId))
    key = workspace!.inboxKey
    await pointWebhookAtInbox(runtime, { workspaceId, pipeId: customer.pipe.id, secret })
  })

  const bodyOf = (n: number) => JSON.stringify({ id: `e-${n}`, data: { pipe_id: customer.pipe.id, n } })
  const send = async (body: string, { to = key, as = secret, atMs = runtime.clock.now() } = {}) => {
    const headers = { ...signWebhook([as], { id: 'e', body, atMs }), Cookie: 'proxy=1' }
    const bytes = async function* () {
      yield Buffer.from(body)
    }
    const { status, body: answer } = await receive({ headers: new Headers(headers), body: bytes() }, to)
    return answer === null ? status : `${status} ${(JSON.parse(answer) as { code: string }).code}`
  }
  const kept = async () => (await showInbox(runtime, customer.actor)).messages

  it('accepts webhooks signed by the workspace, and shows them', async () => {
    expect(await send(bodyOf(1))).toBe(204)
    const [message, ...others] = await kept()
    expect(others).toEqual([])
    expect(message).toMatchObject({
      body: bodyOf(1),
      headers: { 'webhook-id': 'e', 'x-service-signature': expect.any(String) },
    })
    expect(message!.headers).not.toHaveProperty('cookie')
    expect((await showInbox(runtime, customer.actor)).url).toBe(`http://localhost:3000/api/inbox/${key}`)
  })

  it("accepts an event that names no Pipe from a Pipe's output", async () => {
    const body = JSON.stringify({ event: 'data_store.failing', data: { data_store_id: 'd' } })
    expect(await send(body)).toBe(204)
    expect((await kept()).map((message) => message.body)).toEqual([body])
  })

  it('rejects everything else and stores none of it', async () => {
    const other = await createTestWorkspace(runtime)
    expect(await send(bodyOf(1), { as: newWebhookSecret() })).toBe('403 forbidden')
    expect(await send(bodyOf(1), { atMs: runtime.clock.now() - 301_000 })).toBe('403 forbidden')
    expect(await send(JSON.stringify({ data: { pipe_id: other.pipe.id } }))).toBe('403 forbidden')
    expect(await send('{}', { as: newWebhookSecret() })).toBe('403 forbidden')
    expect(await send('{')).toBe('400 invalid_json')
    expect(await send(bodyOf(1), { to: 'guessed' })).toBe('404 not_found')
    expect(await kept()).toEqual([])
  })

  it('takes two statements for webhooks that arrive together, and rejects only the forged ones', async () => {
    const statements = vi.spyOn(runtime.db._.session, 'prepareQuery')
    const transactions = vi.spyOn(runtime.db, 'transaction')
    const bodies = Array.from({ length: 60 }, (_, n) => bodyOf(n))
    const forged = send(bodyOf(61), { as: newWebhookSecret() })
    expect(new Set(await Promise.all(bodies.map((body) => send(body))))).toEqual(new Set([204]))
    expect(await forged).toBe('403 forbidden')
    expect([statements.mock.calls.length, transactions.mock.calls.length]).toEqual([2, 0])
    vi.restoreAllMocks()
    expect(new Set((await kept()).map(({ body }) => body))).toEqual(new Set(bodies))
  })

  it('keeps the last 100 webhooks of each workspace', { tags: 'long' }, async () => {
    const other = await createTestWorkspace(runtime)
    for (let n = 0; n < 103; n++) {
      await send(bodyOf(n))
      runtime.clock.advance(1)
    }
    const messages = await kept()
    expect(messages).toHaveLength(100)
    expect([messages[0]!.body, messages.at(-1)!.body]).toEqual([bodyOf(102), bodyOf(3)])
    expect((await showInbox(runtime, other.actor)).messages).toEqual([])
  })
})
