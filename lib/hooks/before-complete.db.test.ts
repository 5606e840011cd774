import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { expect, it } from 'vitest'
import { actsOn, describeDecided, problem } from '../../test/support/decided-site.ts'
import { httpCall } from '../../test/support/http-call.ts'
import { fileIdOf, metadata } from '../../test/support/tus-client.ts'
import { minutes } from '../platform/kernel/clock.ts'
import { clearLeftovers } from '../recovery/clear-leftovers.ts'
import { verifyWebhook } from '../webhooks/signature/signature.ts'
import { questionSchema } from './question-schemas.ts'

const MiB = 1024 * 1024
/** A single part, several parts, and several parts with a tail. */
const SIZES = [1000, 16 * MiB, 20 * MiB]

describeDecided('before_complete', (given) => {
  const { upload, file, hasObject, decisions, events } = actsOn(given)

  it.each(SIZES)(
    'creates no object of %i bytes before it is allowed, and returns the result',
    async (size) => {
      const result = { documentId: 'doc_42' }
      const body = randomBytes(size)
      given.decider.answer = async ({ data }) => {
        expect(await given.site.bucket.objects()).not.toContain(`${data.file_id}/a.txt`)
        return { allow: true, result }
      }
      const { url, last } = await upload(body)
      const encoded = Buffer.from(JSON.stringify(result)).toString('base64url')
      const told = { 'upload-offset': String(size), 'sluice-result': encoded }
      expect(last).toMatchObject({ status: 204, headers: told })
      expect((await given.site.bucket.object(`${fileIdOf(url)}/a.txt`)).equals(body)).toBe(true)
      expect(await given.client.head(url)).toMatchObject({ status: 200, headers: told })
      expect(last.headers['access-control-expose-headers']).toContain('Sluice-Result')
      const shown = await httpCall({ method: 'GET', url: `${url}/result`, token: given.client.token })
      expect(JSON.parse(shown.body)).toMatchObject({ status: 'transferred', decision: 'allowed', result })
      expect(await decisions(url)).toEqual([{ state: 'allowed', by: 'receiver' }])
      const [event] = await events(url)
      expect(JSON.parse(event!.payload).data).toMatchObject({ decision: { state: 'allowed', result } })
    },
  )

  it('asks about the entire file, signed like a webhook', async () => {
    const body = randomBytes(1000)
    const { url } = await upload(body)
    const [asked] = given.decider.asked
    expect(verifyWebhook(asked as never, [given.secret], given.site.clock.now())).toEqual({
      service: 'valid',
      standard: 'valid',
    })
    expect(asked!.headers['webhook-id']).toBe(`before_complete-${fileIdOf(url)}`)
    questionSchema('before_complete').parse(given.decider.questions()[0])
    expect(given.decider.questions()).toMatchObject([
      {
        id: `before_complete-${fileIdOf(url)}`,
        hook: 'before_complete',
        data: {
          pipe_id: given.site.pipe.id,
          file_id: fileIdOf(url),
          filename: 'a.txt',
          size: 1000,
          checksum: `crc32:${crc32(body).toString(16).padStart(8, '0')}`,
          destinations: [{ destinationId: given.site.dataStore.id, key: `${fileIdOf(url)}/a.txt` }],
        },
      },
    ])
  })

  it('is asked once about a file that arrives in lanes, whose own address reports the decision', async () => {
    const body = randomBytes(20 * MiB)
    const sendInLanes = async () => {
      const headers = { 'Upload-Lanes': '2', 'Upload-Metadata': metadata({ filename: 'a.txt' }) }
      const reply = await given.client.create(body.length, headers)
      const lanes: { url: string; firstByte: number; length: number }[] = JSON.parse(reply.body).lanes
      const send = (lane: (typeof lanes)[number]) =>
        given.client.patch(lane.url, 0, body.subarray(lane.firstByte, lane.firstByte + lane.length))
      expect((await Promise.all(lanes.map(send))).map(({ status }) => status)).toEqual([204, 204])
      const url = reply.headers.location!
      return { url, last: await given.client.patch(url, body.length - 1, body.subarray(-1)) }
    }
    given.decider.answer = () => ({ allow: true, result: { id: 7 } })
    const allowed = await sendInLanes()
    expect(allowed.last.status).toBe(204)
    expect(JSON.parse(Buffer.from(allowed.last.headers['sluice-result']!, 'base64url').toString())).toEqual({
      id: 7,
    })
    expect(given.decider.asked).toHaveLength(1)
    await Promise.all(given.patient.context.background)
    expect(await hasObject(allowed.url)).toBe(true)
    given.decider.answer = () => ({ allow: false, reason: 'It has a virus.' })
    const refused = await sendInLanes()
    expect(problem(refused.last)).toEqual([403, 'upload_rejected', 'It has a virus.'])
    expect(await hasObject(refused.url)).toBe(false)
  })

  it.each(SIZES)(
    'reports a rejection of %i bytes each time, and leaves nothing in the bucket',
    async (size) => {
      given.decider.answer = () => ({ allow: false, reason: 'It has a virus.' })
      const before = await given.site.bucket.objects()
      const { url, last } = await upload(randomBytes(size))
      const told = [403, 'upload_rejected', 'It has a virus.']
      expect(problem(last)).toEqual(told)
      for (let n = 0; n < 2; n += 1) {
        const head = await given.client.head(url)
        expect(head).toMatchObject({ status: 200, headers: { 'upload-offset': String(size - 1) } })
        expect(problem(await given.client.patch(url, size - 1, Buffer.alloc(1)))).toEqual(told)
      }
      expect(given.decider.asked).toHaveLength(1)
      const { status, failureReason, decision } = await file(url)
      expect({ status, failureReason }).toEqual({ status: 'failed', failureReason: 'rejected' })
      expect(decision).toMatchObject({ state: 'rejected', reason: 'It has a virus.', decidedBy: 'receiver' })
      const [event, ...more] = await events(url)
      expect(more).toEqual([])
      expect(JSON.parse(event!.payload).data).toMatchObject({
        status: 'failed',
        decision: { state: 'rejected', reason: 'It has a virus.' },
      })
      given.site.clock.advance(minutes(2))
      await clearLeftovers(given.node.context)
      expect([await given.site.bucket.objects(), await given.site.bucket.unfinished()]).toEqual([before, []])
    },
  )

  it('reports the decision in the response to a creation with the entire file, or with an empty one', async () => {
    given.decider.answer = () => ({ allow: false })
    for (const body of [randomBytes(1000), Buffer.alloc(0)]) {
      const made = await given.client.create(body.length, {}, body.length > 0 ? body : undefined)
      expect(problem(made)).toEqual([403, 'upload_rejected', 'The file was rejected.'])
    }
  })

  it('allows an empty file, and one whose length is declared last', async () => {
    expect((await given.client.create(0)).status).toBe(201)
    const url = await given.client.begin(null)
    expect((await given.client.patch(url, 0, randomBytes(500))).status).toBe(204)
    expect(given.decider.asked).toHaveLength(1)
    const last = await given.client.patch(url, 500, randomBytes(500), { 'Upload-Length': '1000' })
    expect(last).toMatchObject({ status: 204, headers: { 'upload-offset': '1000' } })
    expect((await file(url)).status).toBe('transferred')
    expect(given.decider.asked).toHaveLength(2)
  })
})
