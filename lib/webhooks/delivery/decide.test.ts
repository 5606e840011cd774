import { describe, expect, it } from 'vitest'
import { decide } from './deliver.ts'

const NOW = Date.parse('2026-11-05T10:00:00Z')
const DAY = 86_400_000
const first = { trigger: 'auto', attempt: 1, failingSince: null } as const
const answer = (status: number, headers: Record<string, string> = {}) => ({ status, headers, body: '' })
const after = (outcome: Parameters<typeof decide>[0], situation: Parameters<typeof decide>[1] = first) =>
  decide(outcome, situation, NOW, 0.5)

describe('decide', () => {
  it.each([200, 201, 202, 204, 299])('treats %d as delivered', (status) => {
    expect(after(answer(status))).toEqual({ state: 'delivered' })
  })

  it.each([301, 302, 307, 308, 400, 401, 404, 500, 502, 199])('retries after %d', (status) => {
    expect(after(answer(status))).toEqual({ state: 'pending', error: 'status', retryInMs: 5000 })
  })

  it.each(['dns', 'connect', 'tls', 'timeout', 'blocked'] as const)('retries after %s', (error) => {
    expect(after({ error, detail: '' })).toEqual({ state: 'pending', error, retryInMs: 5000 })
  })

  it('gives up after the eleventh attempt', () => {
    expect(after(answer(500), { ...first, attempt: 10 })).toMatchObject({ state: 'pending', retryInMs: DAY })
    expect(after(answer(500), { ...first, attempt: 11 })).toEqual({ state: 'failed', error: 'status' })
  })

  it('turns the output off after 410', () => {
    expect(after(answer(410))).toMatchObject({ state: 'failed', turnOff: expect.stringContaining('410') })
  })

  it('turns the output off after five days in which every attempt failed', () => {
    const since = (ms: number) => ({ ...first, failingSince: new Date(NOW - ms) })
    expect(after(answer(500), since(5 * DAY - 1))).not.toHaveProperty('turnOff')
    expect(after(answer(500), since(5 * DAY))).toMatchObject({
      state: 'failed',
      turnOff: expect.stringContaining('five days'),
    })
    expect(after(answer(200), since(9 * DAY))).toEqual({ state: 'delivered' })
  })

  it.each([429, 503])('waits for the Retry-After of a %d, but never less than the schedule', (status) => {
    expect(after(answer(status, { 'retry-after': '60' })).retryInMs).toBe(60_000)
    expect(after(answer(status, { 'retry-after': '1' })).retryInMs).toBe(5000)
    expect(after(answer(status, { 'retry-after': '999999' })).retryInMs).toBe(3_600_000)
    expect(after(answer(500, { 'retry-after': '60' })).retryInMs).toBe(5000)
  })

  it('makes one attempt for a test event, and never turns the output off', () => {
    const test = { trigger: 'test', attempt: 1, failingSince: new Date(NOW - 9 * DAY) } as const
    expect(after(answer(410), test)).toEqual({ state: 'failed', error: 'status' })
    expect(after(answer(204), test)).toEqual({ state: 'delivered' })
  })
})
