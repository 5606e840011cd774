import { beforeAll, describe, expect, inject, it } from 'vitest'
import { targetOf } from '../../test/support/target.ts'
import { newTus, type Tus } from '../../test/support/tus.ts'

let tus: Tus
beforeAll(async () => {
  tus = await newTus(targetOf(inject('demo')))
})

const announced = async () => (await tus.options()).headers['tus-extension']!.split(',')

describe('termination', () => {
  it('is announced', async () => {
    expect(await announced()).toContain('termination')
  })

  it('returns 204 for an unfinished upload, and 410 for its address afterwards', async () => {
    const address = await tus.create(10)
    await tus.patch(address, 0, 'hello')
    expect((await tus.delete(address)).status).toBe(204)
    const head = await tus.head(address)
    expect(head.status).toBe(410)
    expect(head.headers['upload-offset']).toBeUndefined()
    expect((await tus.patch(address, 5, 'world')).status).toBe(410)
    expect((await tus.delete(address)).status).toBe(410)
  })

  it("releases an unfinished upload's reservation, and keeps the usage of received bytes", async () => {
    const own = await newTus(targetOf(inject('demo')))
    const reserved = async () => {
      const usage = await targetOf(inject('demo')).api<{ reservedBytes: number; usedBytes: number }>(
        'GET',
        '/usage',
      )
      return usage.body
    }
    const address = await own.create(1_000_000_007)
    await own.patch(address, 0, 'hello')
    const before = await reserved()
    expect((await own.delete(address)).status).toBe(204)
    const after = await reserved()
    // Other tests reserve and release quota at the same time, but never this much.
    expect(before.reservedBytes - after.reservedBytes).toBeGreaterThan(900_000_000)
    expect(after.usedBytes).toBeGreaterThanOrEqual(before.usedBytes)
  })

  it('returns 204 for a finished upload, and 410 for its address afterwards', async () => {
    const address = await tus.create(5)
    await tus.patch(address, 0, 'hello')
    expect((await tus.delete(address)).status).toBe(204)
    expect((await tus.head(address)).status).toBe(410)
  })
})

describe('expiration', () => {
  const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/

  it('is announced', async () => {
    expect(await announced()).toContain('expiration')
  })

  it('is returned as an HTTP date by POST, PATCH and HEAD of an unfinished upload', async () => {
    const created = await tus.post({ 'Upload-Length': 10 })
    const address = created.headers.location!
    for (const { headers } of [created, await tus.patch(address, 0, 'hello'), await tus.head(address)]) {
      expect(headers['upload-expires']).toMatch(HTTP_DATE)
      expect(Date.parse(headers['upload-expires']!)).toBeGreaterThan(Date.now())
    }
  })

  it('is also returned by a creation with upload and by refused PATCHes', async () => {
    const created = await tus.post({ 'Upload-Length': 10 }, 'hello')
    const refused = await tus.patch(created.headers.location!, 2, 'x')
    for (const { headers } of [created, refused]) expect(headers['upload-expires']).toMatch(HTTP_DATE)
  })
})
