import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { actsOn, describeDecided, problem } from '../../test/support/decided-site.ts'
import { longUnless } from '../../test/support/long.ts'
import { fileIdOf } from '../../test/support/tus-client.ts'
import { serveUploads } from '../../test/support/upload-site.ts'
import { showFile } from '../dashboard/files/show-file.ts'
import { hours } from '../platform/kernel/clock.ts'
import { reconcileUploads } from '../recovery/reconcile.ts'
import { expireUploads } from '../recovery/upload-sweeps.ts'
import { decideFiles, rejectLapsed } from './decide-files.ts'

const MiB = 1024 * 1024
/** A single part, several parts, and several parts with a tail. */
const SIZES = [1000, 16 * MiB, 20 * MiB]

describeDecided('before_complete without an answer yet', (given) => {
  const { save, upload, file, hasObject, decisions, events, decide } = actsOn(given)

  for (const size of SIZES) {
    const name = `keeps a deferred file of ${size} bytes until it is decided a day later`
    it(name, longUnless(size === 16 * MiB), async () => {
      given.client = await given.site.client(given.node)
      given.decider.answer = () => ({ defer: true })
      const body = randomBytes(size)
      const { url, last } = await upload(body)
      const told = { 'upload-offset': String(size - 1) }
      expect(last).toMatchObject({ status: 204, headers: told })
      expect(await given.client.head(url)).toMatchObject({ status: 200, headers: told })
      // Neither a repeated request nor another node's sweeps ask the hook again.
      expect(await given.client.patch(url, size - 1, body.subarray(-1))).toMatchObject({
        status: 204,
        headers: told,
      })
      given.site.clock.advance(hours(23.9))
      const other = await serveUploads(given.site.runtime)
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
      expect((await given.site.bucket.object(`${fileIdOf(url)}/a.txt`)).equals(body)).toBe(true)
      given.client = await given.site.client(other)
      const again = await given.client.patch(
        url.replace(given.node.url, other.url),
        size - 1,
        body.subarray(-1),
      )
      expect(again).toMatchObject({
        status: 204,
        headers: { 'upload-offset': String(size), 'sluice-result': 'Nw' },
      })
      expect(given.decider.asked).toHaveLength(1)
      await other.close()
    })
  }

  it.each(SIZES)(
    'does not report %i bytes as complete if the node died before asking, and asks afterwards',
    { tags: 'long' },
    async (size) => {
      given.client = await given.site.client(given.node)
      given.decider.answer = () => ({ defer: true })
      const body = randomBytes(size)
      const { url } = await upload(body)
      const id = fileIdOf(url)
      await given.database().db.execute(sql`delete from file_decisions where file_id = ${id}::uuid`)
      await given
        .database()
        .db.execute(sql`update files set status = 'uploading', decision = 'due' where id = ${id}::uuid`)
      expect((await given.client.head(url)).headers['upload-offset']).toBe(String(size - 1))
      const elsewhere = await given.client.patch(url, size - 2, body.subarray(-2))
      expect(elsewhere).toMatchObject({ status: 409, headers: { 'upload-offset': String(size - 1) } })
      given.decider.answer = () => ({ allow: false, reason: 'It has a virus.' })
      const last = await given.client.patch(
        url.replace(given.node.url, given.patient.url),
        size - 1,
        body.subarray(-1),
      )
      expect(problem(last)).toEqual([403, 'upload_rejected', 'It has a virus.'])
      expect(await decisions(url)).toEqual([{ state: 'rejected', by: 'receiver' }])
      expect(await hasObject(url)).toBe(false)
    },
  )

  it('rejects a deferred file by an API call, and tells its client', async () => {
    given.client = await given.site.client(given.node)
    given.decider.answer = () => ({ defer: true })
    const { url } = await upload(randomBytes(1000))
    await decide(url, { allow: false, reason: 'Too late.' })
    await decide(url, { allow: false, reason: 'Too late.' })
    expect(await decisions(url)).toEqual([{ state: 'rejected', by: 'api' }])
    await expect(decide(url, { allow: true })).rejects.toMatchObject({ code: 'conflict' })
    expect(problem(await given.client.patch(url, 999, Buffer.alloc(1)))).toEqual([
      403,
      'upload_rejected',
      'Too late.',
    ])
    expect(await events(url)).toHaveLength(1)
  })

  it('records that a person decided in the dashboard', async () => {
    given.client = await given.site.client(given.node)
    given.decider.answer = () => ({ defer: true })
    const { url } = await upload(randomBytes(1000))
    await decide(url, { allow: true }, 'user')
    expect(await decisions(url)).toEqual([{ state: 'allowed', by: 'dashboard' }])
  })

  it('rejects a deferred file as undecided if nobody makes a decision', async () => {
    given.client = await given.site.client(given.node)
    given.decider.answer = () => ({ defer: true })
    const { url } = await upload(randomBytes(1000))
    given.site.clock.advance(hours(24) + 1)
    expect(await rejectLapsed(given.node.context)).toBe(1)
    expect(await rejectLapsed(given.node.context)).toBe(0)
    given.client = await given.site.client(given.node)
    expect(await file(url)).toMatchObject({
      status: 'failed',
      failureReason: 'rejected',
      decision: { state: 'rejected', reason: 'undecided', decidedBy: 'time' },
    })
    const [status, , detail] = problem(await given.client.patch(url, 999, Buffer.alloc(1)))
    expect([status, detail]).toEqual([403, expect.stringContaining('undecided')])
  })

  it('accepts a decision by API call before the answer, which then changes nothing', async () => {
    let fileId = ''
    given.decider.answer = async ({ data }) => {
      fileId = data.file_id as string
      await decide(fileId, { allow: true, result: 'call' })
      return { defer: true }
    }
    const uploading = upload(randomBytes(1000))
    const status = async () => {
      await reconcileUploads(given.node.context)
      return fileId && (await showFile(given.site.runtime, given.site.actor, fileId)).status
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
    given.client = await given.site.client(given.node)
    given.decider.answer = () => answer
    const { url } = await upload(randomBytes(1000))
    await Promise.all(given.node.context.background)
    expect((await given.client.patch(url, 999, Buffer.alloc(1))).status).toBe(403)
    expect(await decisions(url)).toEqual([{ state: 'rejected', by: 'default' }])
  })

  it.each([
    ['refuse', 403, 'failed'],
    ['allow', 204, 'transferred'],
  ] as const)('applies the setting for a missing answer: %s', async (withoutAnswer, status, ends) => {
    given.client = await given.site.client(given.node)
    await save({ withoutAnswer })
    const faults = [
      { status: 500, body: '' },
      { status: 200, body: '{"allow":"yes"}' },
      { status: 302, body: '' },
      { status: 200, body: 'no JSON' },
      { status: 200, body: JSON.stringify({ allow: true, result: 'x'.repeat(4095) }) },
    ]
    let attempt = 0
    given.decider.answer = (_, res) => {
      const fault = faults[attempt++]!
      res.writeHead(fault.status).end(fault.body)
    }
    const { url } = await upload(randomBytes(1000))
    await Promise.all(given.node.context.background)
    expect((await given.client.patch(url, 999, Buffer.alloc(1))).status).toBe(status)
    expect(given.decider.asked).toHaveLength(5)
    expect(new Set(given.decider.asked.map(({ body }) => body)).size).toBe(1)
    expect((await file(url)).status).toBe(ends)
    expect(await decisions(url)).toMatchObject([{ by: 'default' }])
    await save()
  })

  it('continues without a hook that was removed in the meantime, and does not ask about earlier files', async () => {
    const url = await given.client.begin(1000)
    await save({ enabled: false })
    const before = await given.client.begin(1000)
    await save()
    for (const one of [url, before]) {
      const wasOn = one === url
      await save({ enabled: !wasOn })
      expect((await given.client.patch(one, 0, randomBytes(1000))).status).toBe(204)
    }
    expect(given.decider.asked).toEqual([])
  })

  it('responds to a waiting client before the answer, and stores one decision from two nodes', async () => {
    given.client = await given.site.client(given.node)
    const held: (() => void)[] = []
    given.decider.answer = (_, res) => void held.push(() => res.end('{"allow":true}'))
    await save({ timeoutSeconds: 30 })
    const body = randomBytes(1000)
    const { url, last } = await upload(body)
    expect(last).toMatchObject({ status: 204, headers: { 'upload-offset': '999' } })
    // The first node is presumed dead, a second node asks again, and both get an answer.
    await given
      .database()
      .db.execute(
        sql`update files set lease_until = now() - interval '1 second' where id = ${fileIdOf(url)}::uuid`,
      )
    const other = await serveUploads(given.site.runtime)
    expect(await decideFiles(other.context)).toBe(1)
    await given.decider.gets(2)
    for (const answer of held) answer()
    await Promise.all([...given.node.context.background, ...other.context.background])
    expect(await decisions(url)).toEqual([{ state: 'allowed', by: 'receiver' }])
    expect((await file(url)).status).toBe('transferred')
    expect(await events(url)).toHaveLength(1)
    await other.close()
    await save()
  })
})
