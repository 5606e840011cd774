import { expect, it } from 'vitest'
import type { TimelineEntry } from '#lib/dashboard/files/file.ts'
import type { ReplayFacts } from '#lib/dashboard/files/read-replay.ts'
import { uuidv7 } from '#lib/platform/kernel/ids.ts'
import { drawReplay, type Replay } from './draw-replay.ts'
import { completeRequests } from './tell-entry.ts'

const START = Date.parse('2026-11-28T10:00:00.000Z')
const at = (seconds: number) => new Date(START + seconds * 1000).toISOString()
const entry = (seconds: number, kind: string, detail: TimelineEntry['detail'] = {}): TimelineEntry => ({
  at: at(seconds),
  kind,
  detail,
})
/** The id of a request that began at this time. */
const idAt = (seconds: number) => uuidv7(START + seconds * 1000)
const webhook = (seconds: number) => entry(seconds, 'webhook_attempt', { error: null })
const NO_LANES = { lastRequestId: null, lanes: [] }

type Given = { lastByte?: number; offset?: number } & Partial<ReplayFacts>

function draw(entries: TimelineEntry[], { lastByte, offset = 100, ...facts }: Given = {}) {
  const file = { size: 100, offset, lastByteAt: lastByte === undefined ? null : at(lastByte) }
  return drawReplay(completeRequests(entries, file), file, { ...NO_LANES, ...facts })!
}
/** The moving segments with their bytes, and the length of the others. */
const told = ({ segments }: Replay) =>
  segments
    .filter(({ ms }) => ms > 0)
    .map(({ kind, from, to, ms }) =>
      kind === 'moving' ? [from, to].map(({ y }) => Math.round(100 - y)) : `${kind} ${ms}`,
    )
const kinds = ({ marks }: Replay) => marks.map(({ entry: { kind } }) => kind)
const widthOf = ({ segments }: Replay, wanted: string) =>
  segments.reduce((sum, { kind, from, to }) => sum + (kind === wanted ? to.x - from.x : 0), 0)

it('draws a file of one request as a line up to its last byte, followed by its end and its webhook', () => {
  const entries = [entry(-60, 'token_issued'), entry(0, 'created'), entry(5, 'completed'), webhook(6)]
  const replay = draw(entries, { lastByte: 4 })
  expect(told(replay)).toEqual([[0, 100], 'idle 1000', 'idle 1000'])
  expect(kinds(replay)).toEqual(['created', 'completed', 'webhook_attempt'])
  expect(replay.marks.map(({ y }) => y)).toEqual([100, 0, 0])
})

it('draws the time between a cut and a resume, shortened if it is long', () => {
  const cut = entry(10, 'request', { fromBytes: 0, toBytes: 40, ended: 'cut', requestId: idAt(0) })
  const entries = [entry(0, 'created'), cut, entry(3630, 'completed'), webhook(3631)]
  const replay = draw(entries, { lastByte: 3630, lastRequestId: idAt(3610) })
  expect(told(replay)).toEqual([[0, 40], 'skipped 3600000', [40, 100], 'idle 1000'])
  expect(replay.marks).toMatchObject([{}, { y: 60, entry: cut }, { y: 0 }, { y: 0 }])
  expect(widthOf(replay, 'skipped')).toBeLessThan(widthOf(replay, 'moving') / 2)
  expect(replay.segments.at(-1)!.to.x).toBeCloseTo(100)
})

it('draws bytes that arrive since the last recorded request', () => {
  const cut = entry(10, 'request', {
    fromBytes: 0,
    toBytes: 40,
    ended: 'cut',
    requestId: 'chosen-by-a-proxy',
  })
  const replay = draw([entry(0, 'created'), cut], { offset: 55, lastByte: 20, lastRequestId: idAt(15) })
  expect(told(replay)).toEqual([[0, 40], 'skipped 5000', [40, 55]])
})

it('draws several connections as one line, with a bar for each', () => {
  const cut = (seconds: number, toBytes: number) =>
    entry(seconds, 'request', { fromBytes: 0, toBytes, ended: 'cut', lane: true, requestId: idAt(0) })
  const lane = (from: number, to: number, offsetBytes = 50) => ({
    lengthBytes: 50,
    offsetBytes,
    firstByteAt: at(from),
    lastByteAt: at(to),
  })
  const replay = draw([entry(0, 'created'), cut(4, 20), cut(5, 30), entry(9, 'completed')], {
    lastByte: 9,
    lanes: [lane(0, 9), lane(5, 9, 10), { ...lane(0, 0), firstByteAt: null }],
  })
  expect(told(replay)).toEqual([
    [0, 50],
    [50, 100],
  ])
  const lastByte = replay.segments.findLast(({ kind }) => kind === 'moving')!.to.x
  expect(replay.lanes).toEqual([
    { from: 0, to: lastByte, isComplete: true },
    { from: replay.marks[1]!.x, to: lastByte, isComplete: false },
  ])
})

it('draws nothing if no bytes arrived, or once the timeline has been deleted', () => {
  expect([draw([]), draw([entry(0, 'created'), entry(9, 'failed')], { offset: 0 })]).toEqual([
    undefined,
    undefined,
  ])
})
