import type { File, TimelineEntry } from '#lib/dashboard/files/file.ts'
import type { ReplayFacts } from '#lib/dashboard/files/read-replay.ts'
import { seconds } from '#lib/platform/kernel/clock.ts'
import { beganAt } from './tell-entry.ts'

/** A time at which bytes began or stopped moving, or at which something else happened. */
type Stop = { atMs: number; bytes: number; moving: boolean; entry: TimelineEntry | undefined }
type Point = { x: number; y: number }
type Segment = { kind: 'moving' | 'idle' | 'skipped'; from: Point; to: Point; ms: number }

/** The confirmed offset over time, in percent of the width and of the height. */
export type Replay = {
  /** Long times without bytes are drawn shorter: they are `skipped`. */
  segments: Segment[]
  marks: (Point & { entry: TimelineEntry })[]
  lanes: { from: number; to: number; isComplete: boolean }[]
  startMs: number
  endMs: number
}

/** Shorter times are never skipped. */
const LEAST_SKIPPED_MS = seconds(1)
/** The width that is kept free before each mark, and before all of them together. */
const MARK_WIDTH = 4
const MARKS_WIDTH = 60

/** `entries` are those of `completeRequests`. Undefined if no bytes arrived, or nothing is left of the timeline. */
export function drawReplay(
  entries: TimelineEntry[],
  file: Pick<File, 'size' | 'offset' | 'lastByteAt'>,
  facts: ReplayFacts,
): Replay | undefined {
  const stops = stopsOf(entries, file, facts)
  const [first, last] = [stops[0], stops.at(-1)]
  if (!first || !last?.bytes) return undefined
  const gaps = gapsOf(stops)
  const most = Math.max(file.size ?? 0, last.bytes)
  let x = 0
  const points = stops.map(({ bytes }, n): Point => {
    x += gaps[n - 1]?.width ?? 0
    return { x, y: 100 - (bytes / most) * 100 }
  })
  const placeOf = (at: string) => xAt(Date.parse(at), stops, points)
  return {
    segments: gaps.map(({ kind, ms }, n) => ({ kind, ms, from: points[n]!, to: points[n + 1]! })),
    marks: stops.flatMap(({ entry }, n) => (entry ? { ...points[n]!, entry } : [])),
    lanes: facts.lanes.flatMap(({ firstByteAt, lastByteAt, lengthBytes, offsetBytes }) =>
      firstByteAt && lastByteAt
        ? { from: placeOf(firstByteAt), to: placeOf(lastByteAt), isComplete: offsetBytes === lengthBytes }
        : [],
    ),
    startMs: first.atMs,
    endMs: last.atMs,
  }
}

function stopsOf(
  entries: TimelineEntry[],
  { offset, lastByteAt }: Pick<File, 'offset' | 'lastByteAt'>,
  { lastRequestId }: ReplayFacts,
): Stop[] {
  const stops: Stop[] = []
  const move = (last: Stop, to: Omit<Stop, 'moving'>, { requestId, lane }: TimelineEntry['detail']) => {
    const beganMs = beganAt(requestId ?? lastRequestId, to.atMs) ?? last.atMs
    // Several connections send at the same time.
    if (lane && last.moving && beganMs < last.atMs) return Object.assign(last, to)
    const began = { ...last, atMs: Math.max(beganMs, last.atMs), moving: false, entry: undefined }
    return stops.push(began, { ...to, moving: true })
  }
  for (const entry of entries) {
    const last = stops.at(-1)
    const [atMs, { kind, detail }] = [Date.parse(entry.at), entry]
    if (kind === 'request' && last)
      move(
        last,
        { atMs, bytes: Number(detail.toBytes), entry: detail.ended === 'end' ? undefined : entry },
        detail,
      )
    else if (kind !== 'token_issued') stops.push({ atMs, bytes: last?.bytes ?? 0, moving: false, entry })
  }
  // A request is recorded once it has ended.
  const [last, lastByteMs] = [stops.at(-1), Date.parse(lastByteAt ?? '')]
  if (last && offset > last.bytes && lastByteMs >= last.atMs)
    move(last, { atMs: lastByteMs, bytes: offset, entry: undefined }, {})
  return stops
}

type Gap = Pick<Segment, 'kind' | 'ms'> & { width: number }

/** The times between stops. Those without bytes together are drawn no longer than those with bytes. */
function gapsOf(stops: Stop[]): Gap[] {
  const gaps = stops.slice(1).map((stop, n) => ({ ...stop, ms: stop.atMs - stops[n]!.atMs }))
  const sum = (of: (gap: (typeof gaps)[number]) => number) => gaps.reduce((all, gap) => all + of(gap), 0)
  const movingMs = Math.max(
    sum(({ moving, ms }) => (moving ? ms : 0)),
    1,
  )
  const idle = sum(({ moving, ms }) => (!moving && ms > 0 ? 1 : 0))
  const mostMs = movingMs / Math.max(idle, 4)
  const drawnMs = ({ moving, ms }: Pick<Stop, 'moving'> & { ms: number }) =>
    moving ? ms : Math.min(ms, mostMs)
  const marks = sum(({ entry }) => (entry ? 1 : 0))
  const markWidth = Math.min(MARK_WIDTH, MARKS_WIDTH / Math.max(marks, 1))
  const perMs = (100 - marks * markWidth) / Math.max(sum(drawnMs), 1)
  return gaps.map(({ ms, moving, entry }) => ({
    ms,
    kind: moving ? 'moving' : ms > Math.max(mostMs, LEAST_SKIPPED_MS) ? 'skipped' : 'idle',
    width: drawnMs({ ms, moving }) * perMs + (entry ? markWidth : 0),
  }))
}

function xAt(atMs: number, stops: Stop[], points: Point[]): number {
  const next = stops.findIndex((stop) => stop.atMs >= atMs)
  if (next < 1) return next === 0 ? 0 : points.at(-1)!.x
  const [before, after] = [stops[next - 1]!.atMs, stops[next]!.atMs]
  const [left, right] = [points[next - 1]!.x, points[next]!.x]
  return left + ((atMs - before) / (after - before)) * (right - left)
}
