import { eq, sql } from 'drizzle-orm'
import { beforeAll, expect, it, vi } from 'vitest'
import { idempotencyKeys, senders } from '#drizzle/schema/index.ts'
import { describeWithDatabase } from '../../test/support/databases.ts'
import { openDecider } from '../../test/support/decider.ts'
import { type TestRuntime, testRuntime } from '../../test/support/runtime.ts'
import { createTestWorkspace, type TestWorkspace } from '../../test/support/workspace.ts'
import { hookInput } from '../hooks/hook.ts'
import { saveHook } from '../hooks/pipe-hooks.ts'
import { createAccountKey } from '../identity/accounts/account-keys.ts'
import * as passwords from '../identity/accounts/password.ts'
import { rows } from '../platform/db/database.ts'
import { hours } from '../platform/kernel/clock.ts'
import { parseInput } from '../platform/kernel/parse-input.ts'
import { takeFromLimit } from '../platform/rate-limits.ts'
import { PER_WORKSPACE, testLimit } from '../webhooks/log/send-test-event.ts'
import { handleApiRequest } from './handle-request.ts'

describeWithDatabase('Idempotency-Key', (database) => {
  let runtime: TestRuntime
  let mine: TestWorkspace
  beforeAll(async () => {
    runtime = testRuntime(database(), { ALLOWED_PRIVATE_HOSTS: '*' })
    mine = await createTestWorkspace(runtime)
  })

  async function post(path: string, body: object, key: string, customer = mine) {
    const response = await handleApiRequest(
      runtime,
      new Request(`http://localhost:3000/api/v1${path}`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${customer.accountKey.key}`,
          'Content-Type': 'application/json',
          'Idempotency-Key': key,
        },
        body: JSON.stringify(body),
      }),
    )
    return { status: response.status, json: await response.json() }
  }
  const named = (name: string) => database().db.select().from(senders).where(eq(senders.name, name))

  it('returns the first response again, including secrets, and changes nothing', async () => {
    const first = await post('/senders', { name: 'Once' }, 'a')
    expect(first.status).toBe(201)
    expect(await post('/senders', { name: 'Once' }, 'a')).toEqual(first)
    expect(await named('Once')).toHaveLength(1)
    const [kept] = await database().db.select().from(idempotencyKeys).where(eq(idempotencyKeys.key, 'a'))
    expect(kept!.body).not.toContain(first.json.token)
  })

  it('works when the same request arrives many times at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => post('/senders', { name: 'At once' }, 'b')),
    )
    expect(new Set(answers.map(({ json }) => json.token)).size).toBe(1)
    expect(await named('At once')).toHaveLength(1)
  })

  it('hashes a password before its transaction begins', async () => {
    let found: { open: number } | undefined
    const hashed = vi.spyOn(passwords, 'hashPassword').mockImplementationOnce(async () => {
      ;[found] = await rows<{ open: number }>(
        database().db,
        sql`select count(*)::int as open from pg_stat_activity
          where datname = current_database() and state = 'idle in transaction'`,
      )
      return 'hash'
    })
    const link = { pipeId: mine.pipe.id, title: 'Films', password: 'a password' }
    const first = await post('/upload-links', link, 'link')
    expect(first).toMatchObject({ status: 201, json: { hasPassword: true } })
    expect(hashed).toHaveBeenCalledOnce()
    expect(found).toEqual({ open: 0 })
    expect(await post('/upload-links', link, 'link')).toEqual(first)
  })

  it('is rejected with a different request', async () => {
    await post('/senders', { name: 'One' }, 'c')
    expect(await post('/senders', { name: 'Two' }, 'c')).toMatchObject({
      status: 409,
      json: { code: 'conflict' },
    })
    expect(await named('Two')).toHaveLength(0)
  })

  it('is separate for each workspace', async () => {
    const other = await createTestWorkspace(runtime)
    const [a, b] = [
      await post('/senders', { name: 'X' }, 'd'),
      await post('/senders', { name: 'X' }, 'd', other),
    ]
    expect(a.json.id).not.toBe(b.json.id)
  })

  it("never returns one account key's response to another", async () => {
    const { key } = await createAccountKey(runtime, mine.actor, { name: 'Second' })
    const first = await post('/senders', { name: 'Mine' }, 'own')
    const other = { ...mine, accountKey: { ...mine.accountKey, key } }
    const second = await post('/senders', { name: 'Mine' }, 'own', other)
    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.json.token).not.toBe(first.json.token)
  })

  it('does not store failures, so that the corrected request succeeds', async () => {
    const failed = await post(
      '/pipes',
      { name: 'P', dataStoreId: '019a0000-0000-7000-8000-000000000000' },
      'e',
    )
    expect(failed.status).toBe(400)
    expect((await post('/pipes', { name: 'P', dataStoreId: mine.dataStore.id }, 'e')).status).toBe(201)
  })

  it("also covers a new bucket's check and operations that use the network", async () => {
    const bucket = {
      name: 'Out',
      provider: 'other',
      endpoint: 'http://127.0.0.1:1',
      bucket: 'media',
      accessKeyId: 'KEY',
      secretAccessKey: 'a-secret',
    }
    const made = await post('/data-stores', bucket, 'f')
    expect(made.json.check).toMatchObject({ ok: false })
    expect(await post('/data-stores', bucket, 'f')).toEqual(made)
    const checked = await post(`/data-stores/${made.json.id}/check`, {}, 'g')
    runtime.clock.advance(1000)
    expect(await post(`/data-stores/${made.json.id}/check`, {}, 'g')).toEqual(checked)
  })

  it("does not keep a transaction open while a hook's receiver is answering a test", async () => {
    const decider = await openDecider()
    const path = `/pipes/${mine.pipe.id}/hooks/before_create`
    await saveHook(
      runtime,
      mine.actor,
      { pipeId: mine.pipe.id, hook: 'before_create' },
      parseInput(hookInput, { url: decider.url, timeoutSeconds: 2 }),
    )
    // The limit for tests is a row that each test locks.
    decider.answer = async () => {
      await takeFromLimit(runtime, testLimit(mine.actor), PER_WORKSPACE)
      return { allow: true }
    }
    const tested = await post(`${path}/test`, {}, 'i')
    expect(tested.json).toMatchObject({ answer: { allow: true }, fault: null })
    expect(await post(`${path}/test`, {}, 'i')).toEqual(tested)
    expect(decider.asked).toHaveLength(1)
    await decider.close()
  })

  it('is forgotten after a day', async () => {
    const first = await post('/senders', { name: 'Daily' }, 'h')
    runtime.clock.advance(hours(24) + 1)
    expect((await post('/senders', { name: 'Daily' }, 'h')).json.id).not.toBe(first.json.id)
  })

  it('must have at most 255 characters', async () => {
    expect((await post('/senders', { name: 'Long' }, 'x'.repeat(256))).status).toBe(400)
  })
})
