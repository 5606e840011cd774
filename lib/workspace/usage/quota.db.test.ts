import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { tusSite } from '../../../test/support/tus-site.ts'

const { at } = tusSite({ settings: { FREE_TIER_BYTES: '10000' } })

describe('the quota of 10,000 bytes', () => {
  it('admits 10 of 50 simultaneous uploads if there is room for 10, and refuses the rest with the reset date', async () => {
    const replies = await Promise.all(Array.from({ length: 50 }, () => at.client.create(990)))
    const refused = replies.filter(({ status }) => status === 403)
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(10)
    expect(refused).toHaveLength(40)
    expect(JSON.parse(refused[0]!.body)).toMatchObject({
      code: 'quota_exceeded',
      detail: expect.stringContaining('-01 at'),
    })
    expect(JSON.parse(refused[0]!.body).detail).toMatch(
      /^The upload needs 990 bytes, but only 100 are left of this month's transfer quota of 10000\. It resets on/,
    )
    // The upload with the reservation can send its bytes.
    const made = replies.find(({ status }) => status === 201)!
    expect((await at.client.patch(made.headers.location!, 0, randomBytes(990))).status).toBe(204)
  })

  it("reports that waiting does not help a file larger than a month's quota", async () => {
    const { detail } = JSON.parse((await at.client.create(10_001)).body)
    expect(detail).toMatch(/^The upload needs 10001 bytes, but only \d+ are left/)
    expect(detail).toMatch(/The entire monthly quota is smaller than the 10001 bytes of this upload\.$/)
    expect(detail).not.toContain('resets')
  })

  it('reports that it is used up if nothing is left', async () => {
    const { headers } = await at.client.create(100)
    expect(JSON.parse((await at.client.create(1)).body).detail).toMatch(
      /^This month's transfer quota, 10000 bytes, is used up\. It resets on/,
    )
    expect((await at.client.terminate(headers.location!)).status).toBe(204)
  })

  it('limits an upload of unknown length as its bytes arrive', async () => {
    const url = await at.client.begin(null)
    expect((await at.client.patch(url, 0, randomBytes(50))).status).toBe(204)
    const reply = await at.client.patch(url, 50, randomBytes(200))
    expect(reply.status).toBe(403)
    expect((await at.client.head(url)).headers['upload-offset']).toBe('50')
  })
})
