import { clsx } from 'clsx'
import { formatBytes, formatDuration } from '#components/format.ts'
import { LocalTime } from '#components/ui/time.tsx'
import type { Replay as Drawing } from './draw-replay.ts'
import { tellEntry } from './tell-entry.ts'
import { Sign } from './timeline.tsx'

const LINES: Record<Drawing['segments'][number]['kind'], string> = {
  moving: 'stroke-2 stroke-water',
  idle: 'stroke-2 stroke-line-strong',
  skipped: 'stroke-2 stroke-line-strong [stroke-dasharray:2_5]',
}
/** A shorter dashed line has no room for the time that it stands for. */
const ROOM = 8

/** How a file's bytes arrived. Screen readers get the same from the list of entries below. */
export function Replay({ replay, size }: { replay: Drawing | undefined; size: number | null }) {
  if (!replay) return null
  const { segments, marks, lanes, startMs, endMs } = replay
  return (
    <figure className="mb-5 text-ink-faint text-xs" aria-hidden>
      <p className="tnum h-6">{size !== null && formatBytes(size)}</p>
      <div className="mx-2.5">
        <div className="relative h-28 border-y">
          <svg
            aria-hidden
            className="absolute inset-0 size-full overflow-visible"
            viewBox="0 0 100 100"
            preserveAspectRatio="none"
          >
            <path
              d={`M0 100${segments.map(({ to }) => `L${to.x} ${to.y}`).join('')}V100`}
              className="fill-water-soft"
            />
            {segments.map(({ kind, from, to }, n) => (
              <path
                key={n}
                d={`M${from.x} ${from.y}L${to.x} ${to.y}`}
                className={LINES[kind]}
                vectorEffect="non-scaling-stroke"
              />
            ))}
          </svg>
          {segments.map(
            ({ kind, from, to, ms }, n) =>
              kind === 'skipped' &&
              to.x - from.x > ROOM && (
                <span
                  key={n}
                  className="absolute -translate-x-1/2 -translate-y-full whitespace-nowrap pb-0.5"
                  style={{ left: `${(from.x + to.x) / 2}%`, top: `${from.y}%` }}
                >
                  {formatDuration(ms)}
                </span>
              ),
          )}
          {marks.map(({ entry, x, y }, n) => (
            <Sign
              key={n}
              entry={entry}
              title={describe(entry)}
              className="-translate-1/2 absolute size-5 p-[3px]"
              style={{ left: `${x}%`, top: `${y}%` }}
            />
          ))}
        </div>
        {lanes.map(({ from, to, isComplete }, n) => (
          <div
            key={n}
            title={`Connection ${n + 1}`}
            className={clsx('mt-1 h-1 min-w-0.5 rounded-full', isComplete ? 'bg-water' : 'bg-water-line')}
            style={{ marginLeft: `${from}%`, width: `${to - from}%` }}
          />
        ))}
      </div>
      <p className="mt-2 flex justify-between">
        <LocalTime at={startMs} />
        <LocalTime at={endMs} />
      </p>
    </figure>
  )
}

function describe(entry: Drawing['marks'][number]['entry']): string {
  const { title, text } = tellEntry(entry)
  return text ? `${title}\n${text}` : title
}
