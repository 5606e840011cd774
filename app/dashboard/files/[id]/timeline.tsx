import { clsx } from 'clsx'
import {
  ArrowUp,
  Ban,
  Check,
  Circle,
  CirclePlay,
  CloudAlert,
  KeyRound,
  LogIn,
  type LucideIcon,
  Pause,
  TimerOff,
  TriangleAlert,
  Unplug,
  Webhook,
  X,
} from 'lucide-react'
import type { ComponentProps } from 'react'
import { formatDuration } from '#components/format.ts'
import { LocalTime } from '#components/ui/time.tsx'
import type { TimelineEntry } from '#lib/dashboard/files/file.ts'
import { type Told, tellEntry } from './tell-entry.ts'

const ICONS: Record<string, LucideIcon> = {
  token_issued: KeyRound,
  created: CirclePlay,
  sftp_opened: LogIn,
  ftps_opened: LogIn,
  ftp_opened: LogIn,
  request: ArrowUp,
  offset_asked: Pause,
  completed: Check,
  transferred: Check,
  webhook_attempt: Webhook,
  bucket_refused: CloudAlert,
  destination_failed: CloudAlert,
  repair_failed: CloudAlert,
  destination_repaired: Check,
  failed: X,
  expired: TimerOff,
  canceled: Ban,
}

/** The icons of all other kinds. The same kind can be good or bad news, as with a decision. */
const ICON_OF_TONE = { plain: Circle, good: Check, bad: X, warn: TriangleAlert } as const

/** Requests that were cut off are warnings. */
const iconOf = ({ kind }: TimelineEntry, tone: Told['tone']) =>
  kind === 'request' && tone === 'warn' ? Unplug : (ICONS[kind] ?? ICON_OF_TONE[tone])

const TONES = { plain: 'text-ink-faint', good: 'text-good', bad: 'text-bad', warn: 'text-warn' } as const

/** Everything that happened to a file, with the time between entries. */
export function Timeline({ entries }: { entries: TimelineEntry[] }) {
  if (entries.length === 0)
    return <p className="text-ink-faint text-sm">No entries. Timelines are kept for a year.</p>
  return (
    <ol className="relative space-y-4 before:absolute before:inset-y-2 before:left-[0.8125rem] before:w-px before:bg-line">
      {entries.map((entry, index) => {
        const { title, text } = tellEntry(entry)
        const before = entries[index - 1]
        // A resume says in its text how long nothing was sent before it: that time and the time of sending are no wait.
        const hasWaited = entry.kind !== 'offset_asked' && !entry.detail.resumed
        const waited = before && hasWaited ? Date.parse(entry.at) - Date.parse(before.at) : 0
        return (
          <li key={index} className="relative flex gap-3">
            <Sign entry={entry} className="z-10 size-[1.6875rem] shrink-0 p-1.5" />
            <div className="min-w-0 flex-1 pt-0.5">
              <p className="flex flex-wrap items-baseline justify-between gap-x-3 text-sm">
                <span className="font-medium">{title}</span>
                <span className="text-ink-faint text-xs">
                  {waited >= 1000 && <span className="mr-2">after {formatDuration(waited)}</span>}
                  <LocalTime at={entry.at} />
                </span>
              </p>
              {text && <p className="break-words text-ink-soft text-sm">{text}</p>}
            </div>
          </li>
        )
      })}
    </ol>
  )
}

/** An entry's kind as an icon in a circle. */
export function Sign({ entry, className, ...rest }: { entry: TimelineEntry } & ComponentProps<'span'>) {
  const { tone } = tellEntry(entry)
  const Icon = iconOf(entry, tone)
  return (
    <span className={clsx('rounded-full border bg-surface', TONES[tone], className)} {...rest}>
      <Icon className="size-full" aria-hidden />
    </span>
  )
}
