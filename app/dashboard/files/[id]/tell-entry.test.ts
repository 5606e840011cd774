import { expect, it } from 'vitest'
import type { TimelineEntry } from '#lib/dashboard/files/file.ts'
import { uuidv7 } from '#lib/platform/kernel/ids.ts'
import { completeRequests, foldRequests, tellEntry } from './tell-entry.ts'

const request = (fromBytes: number, toBytes: number, ended = 'end') => ({
  at: '2026-11-21T08:00:00.000Z',
  kind: 'request',
  detail: { fromBytes, toBytes, ended },
})

const completed = { at: '2026-11-21T08:00:01.000Z', kind: 'completed', detail: { certainty: 'answered' } }
const refused = (offsetBytes: number, times = 1) => ({
  at: '2026-11-21T08:00:00.000Z',
  kind: 'bucket_refused',
  detail: {
    code: 'NoSuchBucket',
    reason: 'The bucket does not exist.',
    offsetBytes,
    times,
    lastAt: '2026-11-21T08:10:00.000Z',
  },
})
const titles = (entries: TimelineEntry[], size: number, lastRequestId: string | null = null) =>
  foldRequests(completeRequests(entries, { size, lastByteAt: null }), { lastRequestId })
    .map(tellEntry)
    .map(({ title, text }) => [title, text])

it("includes the last request's bytes, which only the completion records", () => {
  expect(titles([completed], 10)[0]).toEqual(['Bytes arrived', '10 B confirmed'])
  expect(titles([request(0, 5), completed], 10)[0]).toEqual(['Bytes arrived', '10 B confirmed in 2 requests'])
  expect(titles([request(0, 5, 'cut'), completed], 10)[1]).toEqual(['Resumed at 5 B', '5 B confirmed'])
  expect(titles([completed], 0)).toHaveLength(1)
})

it('shows why a destination was abandoned', () => {
  const entry = (detail: TimelineEntry['detail']) => ({
    at: completed.at,
    kind: 'destination_failed',
    detail,
  })
  expect(titles([entry({ reason: 'rejected', detail: 'It responded with 403.' })], 10)).toEqual([
    ['A destination was abandoned', 'The bucket rejected it. It responded with 403.'],
  ])
  expect(titles([entry({ reason: 'fell_behind', detail: null })], 10)[0]![1]).toMatch(/^It was slower/)
})

it('shows why and how often the bucket rejected a request, and the bytes confirmed by then', () => {
  expect(titles([refused(0), completed], 10)).toEqual([
    ['The bucket rejected the request', 'The bucket does not exist.'],
    ['Bytes arrived', '10 B confirmed'],
    ['In the bucket', 'Confirmed by the bucket.'],
  ])
  expect(titles([refused(6, 1000), completed], 10)).toEqual([
    ['Bytes arrived', '6 B confirmed'],
    [
      'The bucket rejected the request',
      'The bucket does not exist. 1,000 times, most recently 21 Nov 2026, 08:10:00 UTC.',
    ],
    ['Resumed at 6 B', '4 B confirmed'],
    ['In the bucket', 'Confirmed by the bucket.'],
  ])
})

it('shows a resume only after an interruption', () => {
  const chunks = [request(0, 5), request(5, 10), request(12, 20), completed]
  expect(titles(chunks, 25).filter(([title]) => title?.startsWith('Resumed'))).toEqual([])
})

it('merges consecutive requests up to an interruption', () => {
  const entries = [request(0, 100), request(100, 200), request(200, 250, 'cut'), request(250, 400)]
  expect(titles(entries, 500)).toEqual([
    ['Bytes arrived', '250 B confirmed in 3 requests, then the connection was lost'],
    ['Resumed at 250 B', '150 B confirmed'],
  ])
})

it('shows a pause between two complete requests, and the resume after it', () => {
  const at = '2026-11-21T08:00:00.500Z'
  const asked = { at, kind: 'offset_asked', detail: { offsetBytes: 100 } }
  expect(titles([request(0, 50), request(50, 100), asked, request(100, 150), completed], 200)).toEqual([
    ['Bytes arrived', '100 B confirmed in 2 requests'],
    ['Interrupted', '100 B kept'],
    ['Resumed at 100 B', '100 B confirmed in 2 requests'],
    ['In the bucket', 'Confirmed by the bucket.'],
  ])
})

it('shows how long the connection was away before a resume, without the time that the bytes took after it', () => {
  const START = Date.parse('2026-11-21T08:00:00.000Z')
  const at = (seconds: number) => new Date(START + seconds * 1000).toISOString()
  const idAt = (seconds: number) => uuidv7(START + seconds * 1000)
  const from = (began: number, ended: number, [fromBytes, toBytes]: [number, number], how = 'end') => ({
    at: at(ended),
    kind: 'request',
    detail: { fromBytes, toBytes, ended: how, requestId: idAt(began) },
  })
  const told = titles(
    [
      from(0, 5, [0, 100], 'cut'),
      from(15, 20, [100, 150]),
      from(20, 25, [150, 200]),
      { at: at(60), kind: 'offset_asked', detail: { offsetBytes: 200 } },
      from(60, 70, [200, 300], 'cut'),
      { ...completed, at: at(90) },
    ],
    400,
    idAt(70.5),
  )
  expect(told.slice(0, -1)).toEqual([
    ['Bytes arrived', '100 B confirmed, then the connection was lost'],
    ['Resumed at 100 B', 'No connection for 10.0 s, then 100 B confirmed in 2 requests'],
    ['Interrupted', '200 B kept'],
    ['Resumed at 200 B', 'Nothing was sent for 35.0 s, then 100 B confirmed, then the connection was lost'],
    ['Resumed at 300 B', '100 B confirmed'],
  ])
})

it("shows a webhook attempt's error", () => {
  const detail = {
    status: null,
    error: 'timeout',
    url: 'https://a.example/x',
    durationMs: 15_000,
    trigger: 'auto',
  }
  expect(tellEntry({ at: '', kind: 'webhook_attempt', detail })).toEqual({
    title: 'Webhook failed: timeout',
    text: 'a.example in 15.0 s',
    tone: 'bad',
  })
})

it('shows that all bytes arrived before the decision', () => {
  const decided = { at: completed.at, kind: 'decided', detail: { decision: 'allowed', by: 'dashboard' } }
  expect(titles([request(0, 5), decided, completed], 10)).toEqual([
    ['Bytes arrived', '10 B confirmed in 2 requests'],
    ['Allowed', 'Decided in the dashboard.'],
    ['In the bucket', 'Confirmed by the bucket.'],
  ])
  const lastByteAt = '2026-11-21T08:00:00.400Z'
  expect(completeRequests([request(0, 5), decided], { size: 10, lastByteAt })[1]!.at).toBe(lastByteAt)
})

it('does not call a deferral a decision', () => {
  const told = (decision: string) =>
    tellEntry({ at: completed.at, kind: 'decided', detail: { decision, by: 'receiver' } }).text
  expect([told('deferred'), told('allowed')]).toEqual([
    "Deferred by the hook's receiver.",
    "Decided by the hook's receiver.",
  ])
})

it('shows the outcome of repairs', () => {
  const entry = (kind: string, detail: TimelineEntry['detail']) => ({ at: completed.at, kind, detail })
  const failed = (last: boolean) =>
    entry('repair_failed', { destinationId: 'd', detail: 'It responded with 503.', last })
  expect(titles([failed(false), failed(true), entry('destination_repaired', {})], 10)).toEqual([
    ['A repair failed', 'It responded with 503.'],
    ['A repair failed', 'It responded with 503. There are no further attempts unless you request one.'],
    ['Copied to a destination that was missing it', undefined],
  ])
})

it('merges requests over several connections, and counts their bytes from those of the whole file', () => {
  const inLane = (fromBytes: number, toBytes: number, ended?: string) => {
    const { detail, ...entry } = request(fromBytes, toBytes, ended)
    return { ...entry, detail: { ...detail, lane: true } }
  }
  const asked = { at: completed.at, kind: 'offset_asked', detail: { offsetBytes: 130 } }
  const entries = [
    inLane(0, 50, 'cut'),
    inLane(0, 60, 'cut'),
    asked,
    inLane(50, 100),
    inLane(60, 80),
    completed,
  ]
  expect(titles(entries, 200)).toEqual([
    ['Bytes arrived', '130 B confirmed in 3 requests'],
    ['Interrupted', '130 B kept'],
    ['Resumed at 130 B', '70 B confirmed in 2 requests'],
    ['In the bucket', 'Confirmed by the bucket.'],
  ])
})
