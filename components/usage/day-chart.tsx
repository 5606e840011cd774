import { formatBytes, formatDate } from '../format.ts'

type Props = { days: { date: string; bytes: number }[]; tall?: boolean }

/** Bars drawn on the server: nothing to load, nothing that moves. A table says the same to those who hear it. */
export function DayChart({ days, tall = false }: Props) {
  const most = Math.max(...days.map(({ bytes }) => bytes), 1)
  // The whole month, so that a day keeps its place while the month goes on.
  const slots = days[0] ? daysOfMonth(days[0].date) : 31
  return (
    <figure>
      <div
        className={`grid items-end gap-[3px] border-b ${tall ? 'h-44' : 'h-28'}`}
        style={{ gridTemplateColumns: `repeat(${slots}, minmax(0, 1fr))` }}
        aria-hidden
      >
        {days.map(({ date, bytes }) => (
          <div
            key={date}
            className="group relative flex h-full items-end"
            title={`${formatDate(Date.parse(date))}: ${formatBytes(bytes)}`}
          >
            <div
              className={`w-full rounded-t-[3px] ${bytes > 0 ? 'min-h-[3px] bg-water group-hover:bg-water-strong' : 'h-[2px] bg-line'}`}
              style={bytes > 0 ? { height: `${(bytes / most) * 100}%` } : undefined}
            />
          </div>
        ))}
      </div>
      <figcaption className="mt-2 flex justify-between text-ink-faint text-xs">
        <span>{days[0] && formatDate(Date.parse(days[0].date))}</span>
        <span>most in a day: {formatBytes(most === 1 ? 0 : most)}</span>
      </figcaption>
      <table className="sr-only">
        <caption>Transfer per day</caption>
        <tbody>
          {days.map(({ date, bytes }) => (
            <tr key={date}>
              <th scope="row">{date}</th>
              <td>{formatBytes(bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}

function daysOfMonth(date: string): number {
  const [year, month] = date.split('-').map(Number)
  return new Date(Date.UTC(year!, month!, 0)).getUTCDate()
}
