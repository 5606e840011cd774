import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { describeWithDatabase } from '../../test/support/databases.ts'
import { type Decider, openDecider } from '../../test/support/decider.ts'
import { httpCall, type Reply } from '../../test/support/http-call.ts'
import { fileIdOf, metadata, type TusClient } from '../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../test/support/upload-site.ts'
import { decideOnFile } from '../dashboard/files/act-on-files.ts'
import { showFile } from '../dashboard/files/show-file.ts'
import type { Actor } from '../identity/audit/record-audit.ts'
import { rows } from '../platform/db/database.ts'
import { hours, minutes } from '../platform/kernel/clock.ts'
import { clearLeftovers } from '../recovery/clear-leftovers.ts'
import { reconcileUploads } from '../recovery/reconcile.ts'
import { expireUploads } from '../recovery/upload-sweeps.ts'
import { createOutput } from '../webhooks/outputs/save-output.ts'
import { outputInput } from '../webhooks/outputs/webhook-output.ts'
import { verifyWebhook } from '../webhooks/signature/signature.ts'
import { decideFiles, rejectLapsed } from './decide-files.ts'
import { saveHook } from './pipe-hooks.ts'
import { questionSchema } from './question-schemas.ts'

const MiB = 1024 * 1024
/** A single part, several parts, and several parts with a tail. */
const SIZES = [1000, 16 * MiB, 20 * MiB]

describeWithDatabase('before_complete', (database) => {
  let site: Site
  /** Waits for a decision for as long as a busy machine may need. */
  let patient: Awaited<ReturnType<typeof serveUploads>>
  /** Lets clients wait for only half a second. For tests in which no decision is made. */
  let node: Awaited<ReturnType<typeof serveUploads>>
  let decider: Decider
  let client: TusClient
  let secret: string

  const save = (more = {}) =>
    saveHook(
      site.runtime,
      site.actor,
      { pipeId: site.pipe.id, hook: 'before_complete' },
      { url: decider.url, enabled: true, timeoutSeconds: 10, withoutAnswer: 'refuse', ...more },
    )

  beforeAll(async () => {
    site = await createSite(database(), { bucket: { actions: ['s3:PutObject', 's3:AbortMultipartUpload'] } })
    patient = await serveUploads(site.runtime, { terms: { pollMs: 20 } })
    node = await serveUploads(site.runtime, { terms: { decideMs: 500, pollMs: 20 } })
    decider = await openDecider()
    secret = (await save()).secret!
    const asked = { url: 'http://127.0.0.1:1/hook', statuses: ['failed'] as 'failed'[] }
    await createOutput(site.runtime, site.actor, {}, outputInput.parse(asked))
  })
  beforeEach(async () => {
    client = await site.client(patient)
  })
  afterEach(() => decider.reset())
  afterAll(async () => {
    await patient?.close()
    await node?.close()
    await decider?.close()
    await site?.close()
  })

  const upload = async (body: Buffer) => {
    const url = await client.begin(body.length, { 'Upload-Metadata': metadata({ filename: 'a.txt' }) })
    return { url, last: await client.patch(url, 0, body) }
  }
  const file = (url: string) => showFile(site.runtime, site.actor, fileIdOf(url))
  const problem = ({ status, body }: Reply) => [status, JSON.parse(body).code, JSON.parse(body).detail]
  const hasObject = async (url: string) => (await site.bucket.objects()).includes(`${fileIdOf(url)}/a.txt`)
  const decisions = (url: string) =>
    rows<{ state: string; by: string }>(
      database().db,
      sql`select state, decided_by as by from file_decisions where file_id = ${fileIdOf(url)}::uuid`,
    )
  const events = (url: string) =>
    rows<{ payload: string }>(
      database().db,
      sql`select payload from events where file_id = ${fileIdOf(url)}::uuid order by id`,
    )
  const decide = (
    url: string,
    decision: { allow: boolean; reason?: string; result?: unknown },
    kind: Actor['kind'] = 'account_key',
  ) => decideOnFile(site.runtime, { ...site.actor, kind }, fileIdOf(url), decision)

  it.each(SIZES)(
    'creates no object of %i bytes before it is allowed, and returns the result',
    async (size) => {
      const result = { documentId: 'doc_42' }
      const body = randomBytes(size)
      decider.answer = async ({ data }) => {
        expect(await site.bucket.objects()).not.toContain(`${data.file_id}/a.txt`)
        return { allow: true, result }
      }
      const { url, last } = await upload(body)
      const encoded = Buffer.from(JSON.stringify(result)).toString('base64url')
      const told = { 'upload-offset': String(size), 'sluice-result': encoded }
      expect(last).toMatchObject({ status: 204, headers: told })
      expect((await site.bucket.object(`${fileIdOf(url)}/a.txt`)).equals(body)).toBe(true)
      expect(await client.head(url)).toMatchObject({ status: 200, headers: told })
      expect(last.headers['access-control-expose-headers']).toContain('Sluice-Result')
      const shown = await httpCall({ method: 'GET', url: `${url}/result`, token: client.token })
      expect(JSON.parse(shown.body)).toMatchObject({ status: 'transferred', decision: 'allowed', result })
      expect(await decisions(url)).toEqual([{ state: 'allowed', by: 'receiver' }])
      const [event] = await events(url)
      expect(JSON.parse(event!.payload).data).toMatchObject({ decision: { state: 'allowed', result } })
    },
  )

  it('asks about the entire file, signed like a webhook', async () => {
    const body = randomBytes(1000)
    const { url } = await upload(body)
    const [asked] = decider.asked
    expect(verifyWebhook(asked as never, [secret], site.clock.now())).toEqual({
      service: 'valid',
      standard: 'valid',
    })
    expect(asked!.headers['webhook-id']).toBe(`before_complete-${fileIdOf(url)}`)
    questionSchema('before_complete').parse(decider.questions()[0])
    expect(decider.questions()).toMatchObject([
      {
        id: `before_complete-${fileIdOf(url)}`,
        hook: 'before_complete',
        data: {
          pipe_id: site.pipe.id,
          file_id: fileIdOf(url),
          filename: 'a.txt',
          size: 1000,
          checksum: `crc32:${crc32(body).toString(16).padStart(8, '0')}`,
          destinations: [{ destinationId: site.dataStore.id, key: `${fileIdOf(url)}/a.txt` }],
        },
      },
    ])
  })

  it('is asked once about a file that arrives in lanes, whose own address reports the decision', async () => {
    const body = randomBytes(20 * MiB)
    const sendInLanes = async () => {
      const headers = { 'Upload-Lanes': '2', 'Upload-Metadata': metadata({ filename: 'a.txt' }) }
      const reply = await client.create(body.length, headers)
      const lanes: { url: string; firstByte: number; length: number }[] = JSON.parse(reply.body).lanes
      const send = (lane: (typeof lanes)[number]) =>
        client.patch(lane.url, 0, body.subarray(lane.firstByte, lane.firstByte + lane.length))
      expect((await Promise.all(lanes.map(send))).map(({ status }) => status)).toEqual([204, 204])
      const url = reply.headers.location!
      return { url, last: await client.patch(url, body.length - 1, body.subarray(-1)) }
    }
    decider.answer = () => ({ allow: true, result: { id: 7 } })
    const allowed = await sendInLanes()
    expect(allowed.last.status).toBe(204)
    expect(JSON.parse(Buffer.from(allowed.last.headers['sluice-result']!, 'base64url').toString())).toEqual({
      id: 7,
    })
    expect(decider.asked).toHaveLength(1)
    await Promise.all(patient.context.background)
    expect(await hasObject(allowed.url)).toBe(true)
    decider.answer = () => ({ allow: false, reason: 'It has a virus.' })
    const refused = await sendInLanes()
    expect(problem(refused.last)).toEqual([403, 'upload_rejected', 'It has a virus.'])
    expect(await hasObject(refused.url)).toBe(false)
  })

  it.each(SIZES)(
    'reports a rejection of %i bytes each time, and leaves nothing in the bucket',
    async (size) => {
      decider.answer = () => ({ allow: false, reason: 'It has a virus.' })
      const before = await site.bucket.objects()
      const { url, last } = await upload(randomBytes(size))
      const told = [403, 'upload_rejected', 'It has a virus.']
      expect(problem(last)).toEqual(told)
      for (let n = 0; n < 2; n += 1) {
        const head = await client.head(url)
        expect(head).toMatchObject({ status: 200, headers: { 'upload-offset': String(size - 1) } })
        expect(problem(await client.patch(url, size - 1, Buffer.alloc(1)))).toEqual(told)
      }
      expect(decider.asked).toHaveLength(1)
      const { status, failureReason, decision } = await file(url)
      expect({ status, failureReason }).toEqual({ status: 'failed', failureReason: 'rejected' })
      expect(decision).toMatchObject({ state: 'rejected', reason: 'It has a virus.', decidedBy: 'receiver' })
      const [event, ...more] = await events(url)
      expect(more).toEqual([])
      expect(JSON.parse(event!.payload).data).toMatchObject({
        status: 'failed',
        decision: { state: 'rejected', reason: 'It has a virus.' },
      })
      site.clock.advance(minutes(2))
      await clearLeftovers(node.context)
      expect([await site.bucket.objects(), await site.bucket.unfinished()]).toEqual([before, []])
    },
  )

  it('reports the decision in the response to a creation with the entire file, or with an empty one', async () => {
    decider.answer = () => ({ allow: false })
    for (const body of [randomBytes(1000), Buffer.alloc(0)]) {
      const made = await client.create(body.length, {}, body.length > 0 ? body : undefined)
      expect(problem(made)).toEqual([403, 'upload_rejected', 'The file was rejected.'])
    }
  })

  it('allows an empty file, and one whose length is declared last', async () => {
    expect((await client.create(0)).status).toBe(201)
    const url = await client.begin(null)
    expect((await client.patch(url, 0, randomBytes(500))).status).toBe(204)
    expect(decider.asked).toHaveLength(1)
    const last = await client.patch(url, 500, randomBytes(500), { 'Upload-Length': '1000' })
    expect(last).toMatchObject({ status: 204, headers: { 'upload-offset': '1000' } })
    expect((await file(url)).status).toBe('transferred')
    expect(decider.asked).toHaveLength(2)
  })

  it.each(SIZES)('keeps a deferred file of %i bytes until it is decided a day later', async (size) => {
    client = await site.client(node)
    decider.answer = () => ({ defer: true })
    const body = randomBytes(size)
    const { url, last } = await upload(body)
    const told = { 'upload-offset': String(size - 1) }
    expect(last).toMatchObject({ status: 204, headers: told })
    expect(await client.head(url)).toMatchObject({ status: 200, headers: told })
    // Neither a repeated request nor another node's sweeps ask the hook again.
    expect(await client.patch(url, size - 1, body.subarray(-1))).toMatchObject({ status: 204, headers: told })
    site.clock.advance(hours(23.9))
    const other = await serveUploads(site.runtime)
    expect(await decideFiles(other.context)).toBe(0)
    expect(await rejectLapsed(other.context)).toBe(0)
    await expireUploads(other.context)
    await reconcileUploads(other.context)
    expect(await hasObject(url)).toBe(false)
    expect((await file(url)).decision).toMatchObject({ state: 'deferred', decidedBy: 'receiver' })
    expect(await decide(url, { allow: true, result: 7 })).toMatchObject({
      decision: { state: 'allowed', result: 7 },
    })
    await reconcileUploads(other.context)
    expect((await file(url)).status).toBe('transferred')
    expect((await site.bucket.object(`${fileIdOf(url)}/a.txt`)).equals(body)).toBe(true)
    client = await site.client(other)
    const again = await client.patch(url.replace(node.url, other.url), size - 1, body.subarray(-1))
    expect(again).toMatchObject({
      status: 204,
      headers: { 'upload-offset': String(size), 'sluice-result': 'Nw' },
    })
    expect(decider.asked).toHaveLength(1)
    await other.close()
  })

  it.each(SIZES)(
    'does not report %i bytes as complete if the node died before asking, and asks afterwards',
    async (size) => {
      client = await site.client(node)
      decider.answer = () => ({ defer: true })
      const body = randomBytes(size)
      const { url } = await upload(body)
      const id = fileIdOf(url)
      await database().db.execute(sql`delete from file_decisions where file_id = ${id}::uuid`)
      await database().db.execute(
        sql`update files set status = 'uploading', decision = 'due' where id = ${id}::uuid`,
      )
      expect((await client.head(url)).headers['upload-offset']).toBe(String(size - 1))
      const elsewhere = await client.patch(url, size - 2, body.subarray(-2))
      expect(elsewhere).toMatchObject({ status: 409, headers: { 'upload-offset': String(size - 1) } })
      decider.answer = () => ({ allow: false, reason: 'It has a virus.' })
      const last = await client.patch(url.replace(node.url, patient.url), size - 1, body.subarray(-1))
      expect(problem(last)).toEqual([403, 'upload_rejected', 'It has a virus.'])
      expect(await decisions(url)).toEqual([{ state: 'rejected', by: 'receiver' }])
      expect(await hasObject(url)).toBe(false)
    },
  )

  it('rejects a deferred file by an API call, and tells its client', async () => {
    client = await site.client(node)
    decider.answer = () => ({ defer: true })
    const { url } = await upload(randomBytes(1000))
    await decide(url, { allow: false, reason: 'Too late.' })
    await decide(url, { allow: false, reason: 'Too late.' })
    expect(await decisions(url)).toEqual([{ state: 'rejected', by: 'api' }])
    await expect(decide(url, { allow: true })).rejects.toMatchObject({ code: 'conflict' })
    expect(problem(await client.patch(url, 999, Buffer.alloc(1)))).toEqual([
      403,
      'upload_rejected',
      'Too late.',
    ])
    expect(await events(url)).toHaveLength(1)
  })

  it('records that a person decided in the dashboard', async () => {
    client = await site.client(node)
    decider.answer = () => ({ defer: true })
    const { url } = await upload(randomBytes(1000))
    await decide(url, { allow: true }, 'user')
    expect(await decisions(url)).toEqual([{ state: 'allowed', by: 'dashboard' }])
  })

  it('rejects a deferred file as undecided if nobody makes a decision', async () => {
    client = await site.client(node)
    decider.answer = () => ({ defer: true })
    const { url } = await upload(randomBytes(1000))
    site.clock.advance(hours(24) + 1)
    expect(await rejectLapsed(node.context)).toBe(1)
    expect(await rejectLapsed(node.context)).toBe(0)
    client = await site.client(node)
    expect(await file(url)).toMatchObject({
      status: 'failed',
      failureReason: 'rejected',
      decision: { state: 'rejected', reason: 'undecided', decidedBy: 'time' },
    })
    const [status, , detail] = problem(await client.patch(url, 999, Buffer.alloc(1)))
    expect([status, detail]).toEqual([403, expect.stringContaining('undecided')])
  })

  it('accepts a decision by API call before the answer, which then changes nothing', async () => {
    let fileId = ''
    decider.answer = async ({ data }) => {
      fileId = data.file_id as string
      await decide(fileId, { allow: true, result: 'call' })
      return { defer: true }
    }
    const uploading = upload(randomBytes(1000))
    const status = async () => {
      await reconcileUploads(node.context)
      return fileId && (await showFile(site.runtime, site.actor, fileId)).status
    }
    await expect.poll(status).toBe('transferred')
    const { url } = await uploading
    expect(await decisions(url)).toEqual([{ state: 'allowed', by: 'api' }])
  })

  it.each([
    ['a reason with NUL', { allow: false, reason: 'a\0b' }],
    ['a result with NUL', { allow: true, result: ['\0'] }],
    ['a result with half of a surrogate pair', { allow: true, result: { 'a\ud800': 1 } }],
  ])('does not accept %s as an answer, because it cannot be stored', async (_, answer) => {
    client = await site.client(node)
    decider.answer = () => answer
    const { url } = await upload(randomBytes(1000))
    await Promise.all(node.context.background)
    expect((await client.patch(url, 999, Buffer.alloc(1))).status).toBe(403)
    expect(await decisions(url)).toEqual([{ state: 'rejected', by: 'default' }])
  })

  it.each([
    ['refuse', 403, 'failed'],
    ['allow', 204, 'transferred'],
  ] as const)('applies the setting for a missing answer: %s', async (withoutAnswer, status, ends) => {
    client = await site.client(node)
    await save({ withoutAnswer })
    const faults = [
      { status: 500, body: '' },
      { status: 200, body: '{"allow":"yes"}' },
      { status: 302, body: '' },
      { status: 200, body: 'no JSON' },
      { status: 200, body: JSON.stringify({ allow: true, result: 'x'.repeat(4095) }) },
    ]
    let attempt = 0
    decider.answer = (_, res) => {
      const fault = faults[attempt++]!
      res.writeHead(fault.status).end(fault.body)
    }
    const { url } = await upload(randomBytes(1000))
    await Promise.all(node.context.background)
    expect((await client.patch(url, 999, Buffer.alloc(1))).status).toBe(status)
    expect(decider.asked).toHaveLength(5)
    expect(new Set(decider.asked.map(({ body }) => body)).size).toBe(1)
    expect((await file(url)).status).toBe(ends)
    expect(await decisions(url)).toMatchObject([{ by: 'default' }])
    await save()
  })

  it('continues without a hook that was removed in the meantime, and does not ask about earlier files', async () => {
    const url = await client.begin(1000)
    await save({ enabled: false })
    const before = await client.begin(1000)
    await save()
    for (const one of [url, before]) {
      const wasOn = one === url
      await save({ enabled: !wasOn })
      expect((await client.patch(one, 0, randomBytes(1000))).status).toBe(204)
    }
    expect(decider.asked).toEqual([])
  })

  it('responds to a waiting client before the answer, and stores one decision from two nodes', async () => {
    client = await site.client(node)
    const held: (() => void)[] = []
    decider.answer = (_, res) => void held.push(() => res.end('{"allow":true}'))
    await save({ timeoutSeconds: 30 })
    const body = randomBytes(1000)
    const { url, last } = await upload(body)
    expect(last).toMatchObject({ status: 204, headers: { 'upload-offset': '999' } })
    // The first node is presumed dead, a second node asks again, and both get an answer.
    await database().db.execute(
      sql`update files set lease_until = now() - interval '1 second' where id = ${fileIdOf(url)}::uuid`,
    )
    const other = await serveUploads(site.runtime)
    expect(await decideFiles(other.context)).toBe(1)
    await decider.gets(2)
    for (const answer of held) answer()
    await Promise.all([...node.context.background, ...other.context.background])
    expect(await decisions(url)).toEqual([{ state: 'allowed', by: 'receiver' }])
    expect((await file(url)).status).toBe('transferred')
    expect(await events(url)).toHaveLength(1)
    await other.close()
    await save()
  })
})
