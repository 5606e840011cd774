import { eq } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { pipes, senders, tokens } from '#drizzle/schema/index.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { type TestRuntime, testRuntime } from '../../../test/support/runtime.ts'
import { createTestWorkspace, type TestWorkspace } from '../../../test/support/workspace.ts'
import { handleApiRequest } from '../../api/handle-request.ts'
import { days } from '../../platform/kernel/clock.ts'
import { hashSecret } from '../../platform/kernel/ids.ts'
import { updatePipe } from '../pipes/update-pipe.ts'
import { revokeSender, rotateSender } from '../senders/change-sender.ts'
import { createSender } from '../senders/create-sender.ts'

const ADDRESS = 'http://localhost:3000/api/v1/tokens'

describeWithDatabase('POST /api/v1/tokens', (database) => {
  let runtime: TestRuntime
  let mine: TestWorkspace
  let other: TestWorkspace
  beforeAll(async () => {
    runtime = testRuntime(database())
    mine = await createTestWorkspace(runtime)
    other = await createTestWorkspace(runtime)
  })

  type Ask = { token?: string | undefined; body?: unknown; headers?: Record<string, string>; method?: string }
  async function ask({
    token = mine.sender.token,
    body = { pipeId: mine.pipe.id },
    headers,
    method = 'POST',
  }: Ask = {}) {
    const response = await handleApiRequest(
      runtime,
      new Request(ADDRESS, {
        method,
        headers: {
          ...(token && { Authorization: `Bearer ${token}` }),
          'Content-Type': 'application/json',
          Origin: 'https://evil.example',
          ...headers,
        },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    )
    expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    expect(response.headers.get('cache-control')).toBe('no-store')
    return { status: response.status, headers: response.headers, json: await response.json() }
  }

  async function expectProblem(asked: ReturnType<typeof ask>, status: number, code: string) {
    const { json, headers, ...answer } = await asked
    expect(answer.status).toBe(status)
    expect(headers.get('content-type')).toBe('application/problem+json')
    expect(json).toMatchObject({ status, code, title: expect.any(String), detail: expect.any(String) })
    return { json, headers }
  }

  it('201: issues a token for an hour', async () => {
    const { status, json } = await ask()
    expect(status).toBe(201)
    expect(json).toEqual({
      token: expect.stringMatching(/^tmp_[0-9A-Za-z]{43}$/),
      expiresAt: new Date(runtime.clock.now() + 3_600_000).toISOString(),
      pipeId: mine.pipe.id,
      uploadUrl: `http://localhost:3000/pipes/${mine.pipe.id}/files/`,
    })
    const [row] = await runtime.db
      .select()
      .from(tokens)
      .where(eq(tokens.tokenHash, hashSecret(json.token)))
    expect(row).toMatchObject({ workspaceId: mine.workspaceId, senderId: mine.sender.id, maxBytes: null })
  })

  it('201: stores every restriction, and counts the use', async () => {
    const body = {
      pipeId: mine.pipe.id,
      expiresIn: 60,
      maxBytes: 5_000_000_000,
      maxFiles: 3,
      allowedTypes: ['image/*', 'Application/PDF'],
      keyPrefix: 'users/42/',
      subject: 'user-42',
      metadata: { order: '7', 'ключ "quoted"': "it's" },
    }
    const { json } = await ask({ body })
    const [row] = await runtime.db
      .select()
      .from(tokens)
      .where(eq(tokens.tokenHash, hashSecret(json.token)))
    expect(row).toMatchObject({
      maxBytes: 5_000_000_000,
      maxFiles: 3,
      allowedTypes: ['image/*', 'application/pdf'],
      keyPrefix: 'users/42/',
      subject: 'user-42',
      metadata: body.metadata,
      expiresAt: new Date(runtime.clock.now() + 60_000),
    })
    const [sender] = await runtime.db.select().from(senders).where(eq(senders.id, mine.sender.id))
    expect(sender!.lastUsedAt).toEqual(new Date(runtime.clock.now()))
    expect(sender!.requestCount).toBeGreaterThan(0)
  })

  it('400 invalid_request: without a subject, if the Pipe requires one', async () => {
    await updatePipe(runtime, mine.actor, mine.pipe.id, { requireSubject: true })
    const { json } = await expectProblem(ask(), 400, 'invalid_request')
    expect(json.errors).toMatchObject([{ field: 'subject' }])
    expect((await ask({ body: { pipeId: mine.pipe.id, subject: 'user-1' } })).status).toBe(201)
    await updatePipe(runtime, mine.actor, mine.pipe.id, { requireSubject: false })
    expect((await ask()).status).toBe(201)
  })

  it('400 invalid_json', async () => {
    await expectProblem(ask({ body: '{' }), 400, 'invalid_json')
    await expectProblem(ask({ body: '' }), 400, 'invalid_json')
  })

  it.each([
    [{}, 'pipeId'],
    [{ pipeId: 7 }, 'pipeId'],
    [{ pipeId: 'a\u0000b' }, 'pipeId'],
    [{ expiresIn: 59 }, 'expiresIn'],
    [{ expiresIn: 86_401 }, 'expiresIn'],
    [{ expiresIn: '60' }, 'expiresIn'],
    [{ maxBytes: 0 }, 'maxBytes'],
    [{ maxFiles: 1.5 }, 'maxFiles'],
    [{ allowedTypes: ['image'] }, 'allowedTypes.0'],
    [{ keyPrefix: '/a' }, 'keyPrefix'],
    [{ keyPrefix: 'a/../b' }, 'keyPrefix'],
    [{ keyPrefix: 'a\u0000' }, 'keyPrefix'],
    [{ subject: '' }, 'subject'],
    [{ metadata: { a: 1 } }, 'metadata.a'],
    [{ metadata: { a: '\u0000' } }, 'metadata.a'],
    [{ metadata: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [n, ''])) }, 'metadata'],
    [{ colour: 'red' }, 'colour'],
    [{ pipe_id: 'x' }, 'pipe_id'],
  ])('400 invalid_request: for %j, names %s', async (fields, field) => {
    const whole = Object.keys(fields).length === 0 ? fields : { pipeId: mine.pipe.id, ...fields }
    const { json } = await expectProblem(ask({ body: whole }), 400, 'invalid_request')
    expect(json.errors).toMatchObject([{ field, message: expect.any(String) }])
    expect(json.detail).toContain(field)
  })

  it.each([
    [
      'types',
      { allowedTypes: Array(20).fill(`a/${'x'.repeat(240)}`) },
      'allowedTypes must have at most 4096',
    ],
    [
      'metadata',
      { metadata: Object.fromEntries(Array.from({ length: 10 }, (_, n) => [n, 'x'.repeat(900)])) },
      'at most 8192: shorten its metadata',
    ],
  ])('400 invalid_request: for %s of more than a token may store', async (_, fields, detail) => {
    const { json } = await expectProblem(
      ask({ body: { pipeId: mine.pipe.id, ...fields } }),
      400,
      'invalid_request',
    )
    expect(json.detail).toContain(detail)
  })

  it('401 token_missing', async () => {
    const { headers } = await expectProblem(ask({ token: '' }), 401, 'token_missing')
    expect(headers.get('www-authenticate')).toBe('Bearer')
  })

  it.each([`sk_${'x'.repeat(43)}`, `tmp_${'x'.repeat(43)}`, 'nonsense'])(
    '401 token_invalid: %s',
    async (token) => {
      const { headers } = await expectProblem(ask({ token }), 401, 'token_invalid')
      expect(headers.get('www-authenticate')).toBe('Bearer')
    },
  )

  it('401 token_revoked: a revoked Sender, immediately', async () => {
    const sender = await createSender(runtime, mine.actor, { name: 'To go' })
    expect((await ask({ token: sender.token })).status).toBe(201)
    await revokeSender(runtime, mine.actor, sender.id)
    await expectProblem(ask({ token: sender.token }), 401, 'token_revoked')
  })

  it('401 token_revoked: a token from before a rotation, once its overlap has ended', async () => {
    const sender = await createSender(runtime, mine.actor, { name: 'To turn' })
    const next = await rotateSender(runtime, mine.actor, sender.id, { overlapDays: 7 })
    runtime.clock.advance(days(7) - 1)
    expect((await ask({ token: sender.token })).status).toBe(201)
    runtime.clock.advance(1)
    await expectProblem(ask({ token: sender.token }), 401, 'token_revoked')
    expect((await ask({ token: next.token })).status).toBe(201)
  })

  it.each(['pipe_aaaaaaaaaaaaaaaaaaaa', 'nonsense'])('404 pipe_not_found: %j', async (pipeId) => {
    await expectProblem(ask({ body: { pipeId } }), 404, 'pipe_not_found')
  })

  it("404 pipe_not_found: another customer's Pipe", async () => {
    const { json } = await expectProblem(ask({ body: { pipeId: other.pipe.id } }), 404, 'pipe_not_found')
    const none = await expectProblem(
      ask({ body: { pipeId: 'pipe_aaaaaaaaaaaaaaaaaaaa' } }),
      404,
      'pipe_not_found',
    )
    expect(json).toEqual(none.json)
  })

  it.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS'])('405 method_not_allowed: %s', async (method) => {
    const { headers } = await expectProblem(ask({ method }), 405, 'method_not_allowed')
    expect(headers.get('allow')).toBe('POST, GET')
  })

  it('409 pipe_source_off', async () => {
    const off = runtime.db.update(pipes).set({ sourceHttp: false }).where(eq(pipes.id, other.pipe.id))
    await off
    const asked = ask({ token: other.sender.token, body: { pipeId: other.pipe.id } })
    const { json } = await expectProblem(asked, 409, 'pipe_source_off')
    // The title of the Pipe's first tab.
    expect(json.detail).toContain('under Connect, Sources.')
  })

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1'])(
    '415 unsupported_media_type: %s',
    async (type) => {
      await expectProblem(ask({ headers: { 'Content-Type': type } }), 415, 'unsupported_media_type')
    },
  )

  describe('429 rate_limited', () => {
    it('allows 200 at once, and 100 more each second, across all nodes', async () => {
      const sender = await createSender(runtime, mine.actor, { name: 'Busy' })
      const burst = async (n: number) => {
        const answers = await Promise.all(Array.from({ length: n }, () => ask({ token: sender.token })))
        return answers.filter(({ status }) => status === 201).length
      }
      expect(await burst(230)).toBe(200)
      const { headers } = await expectProblem(ask({ token: sender.token }), 429, 'rate_limited')
      expect(headers.get('retry-after')).toBe('1')
      expect(headers.get('ratelimit')).toBe('"sender";r=0;t=1')
      expect(headers.get('ratelimit-policy')).toBe('"sender";q=200;w=2')
      runtime.clock.advance(500)
      expect(await burst(60)).toBe(50)
    })
  })

  it('503 unavailable: if the database is down', async () => {
    const execute = () => Promise.reject(Object.assign(new Error('x'), { code: 'ECONNREFUSED' }))
    const away = { ...runtime, db: { _: { session: { prepareQuery: () => ({ execute }) } } } }
    const request = new Request(ADDRESS, {
      method: 'POST',
      headers: { Authorization: `Bearer ${mine.sender.token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ pipeId: mine.pipe.id }),
    })
    const response = await handleApiRequest(away as never, request)
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('2')
    expect(await response.json()).toMatchObject({ code: 'unavailable' })
  })

  it('takes one round trip to the database', async () => {
    let trips = 0
    const { session } = runtime.db._
    const prepareQuery: typeof session.prepareQuery = (...query) => {
      trips++
      return session.prepareQuery(...query)
    }
    // The request has no other access to the database.
    const counting = { _: { session: { prepareQuery } } } as never
    const request = new Request(ADDRESS, {
      method: 'POST',
      headers: { Authorization: `Bearer ${mine.sender.token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ pipeId: mine.pipe.id }),
    })
    expect((await handleApiRequest({ ...runtime, db: counting }, request)).status).toBe(201)
    expect(trips).toBe(1)
  })
})
