import { clsx } from 'clsx'
import { niceTicks } from './nice-ticks.ts'

const TONES = { water: 'bg-water', bad: 'bg-bad', good: 'bg-good', warn: 'bg-warn' } as const

/** Labels at or beyond this fraction of the width end at their slot, to stay inside the chart. */
const LAST = 0.9

type Series = { name: string; tone: keyof typeof TONES; values: number[] }
type Props = {
  caption: string
  /** For each slot: its full name, and the label below it, if any. */
  slots: { name: string; tick?: string }[]
  /** The series are stacked, with the first at the bottom. */
  series: Series[]
  format: (value: number) => string
  /** Whether all values are whole numbers. */
  whole?: boolean
}

/** A bar chart rendered on the server, without JavaScript or animation. Screen readers get the same data as a table. */
export function BarChart({ caption, slots, series, format, whole = false }: Props) {
  const sums = slots.map((_, at) => series.reduce((sum, { values }) => sum + values[at]!, 0))
  const ticks = niceTicks(Math.max(...sums, 0), { whole })
  const top = ticks.at(-1)!
  const columns = { gridTemplateColumns: `repeat(${slots.length}, minmax(0, 1fr))` }
  const gap = slots.length > 40 ? 'gap-px' : 'gap-[3px]'
  return (
    <figure>
      <div className="grid grid-cols-[auto_1fr] gap-x-2 pt-2 text-ink-faint text-xs" aria-hidden>
        <Scale ticks={ticks} format={format} />
        <div className="relative h-32 border-b">
          {ticks.slice(1).map((tick) => (
            <div
              key={tick}
              className="absolute inset-x-0 border-t border-dashed"
              style={bottomOf(tick, top)}
            />
          ))}
          <div className={clsx('relative grid h-full items-end', gap)} style={columns}>
            {slots.map(({ name }, at) => (
              <div
                key={name}
                className="group flex h-full flex-col justify-end"
                title={tell(name, series, at, format)}
              >
                {series.toReversed().map(({ name: of, tone, values }) => (
                  <div
                    key={of}
                    className={clsx(
                      'w-full first:rounded-t-[2px] group-hover:opacity-75',
                      TONES[tone],
                      values[at]! > 0 && 'min-h-[2px]',
                    )}
                    style={{ height: `${(values[at]! / top) * 100}%` }}
                  />
                ))}
              </div>
            ))}
          </div>
        </div>
        <div />
        <div className={clsx('grid h-5 pt-1', gap)} style={columns}>
          {slots.map(({ name, tick }, at) => (
            <span
              key={name}
              className={clsx('flex whitespace-nowrap', at >= slots.length * LAST ? 'justify-end' : 'w-0')}
            >
              {tick}
            </span>
          ))}
        </div>
      </div>
      {series.length > 1 && (
        <figcaption className="mt-2 flex flex-wrap gap-x-4 text-ink-soft text-xs" aria-hidden>
          {series.map(({ name, tone }) => (
            <span key={name} className="inline-flex items-center gap-1.5">
              <span className={clsx('size-2 rounded-[2px]', TONES[tone])} />
              {name}
            </span>
          ))}
        </figcaption>
      )}
      {/* A table would grow beyond the single pixel of `sr-only`, and the page with it. */}
      <div className="sr-only">
        <table className="table-fixed">
          <caption>{caption}</caption>
          <thead>
            <tr>
              <th scope="col">Time</th>
              {series.map(({ name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {slots.map(({ name }, at) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {series.map(({ name: of, values }) => (
                  <td key={of}>{format(values[at]!)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  )
}

/** The labels of the value axis, in a column as wide as the longest one. */
function Scale({ ticks, format }: { ticks: number[]; format: Props['format'] }) {
  return (
    <div className="tnum relative h-32 text-right">
      {ticks.map((tick) => (
        <span key={tick} className="invisible block h-0 overflow-hidden">
          {format(tick)}
        </span>
      ))}
      {ticks.map((tick) => (
        <span
          key={tick}
          className="absolute right-0 translate-y-1/2 whitespace-nowrap"
          style={bottomOf(tick, ticks.at(-1)!)}
        >
          {format(tick)}
        </span>
      ))}
    </div>
  )
}

const bottomOf = (tick: number, top: number) => ({ bottom: `${(tick / top) * 100}%` })

function tell(slot: string, series: Series[], at: number, format: Props['format']): string {
  return [slot, ...series.map(({ name, values }) => `${name}: ${format(values[at]!)}`)].join('\n')
}
