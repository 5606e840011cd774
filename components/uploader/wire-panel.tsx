'use client'

import { Hourglass } from 'lucide-react'
import { formatBytes, plural } from '../format.ts'
import { REACHABLE } from '../ui/reachable.ts'
import type { Wire } from './wire.ts'

export const TONES = { plain: 'text-ink-soft', good: 'text-good', bad: 'text-bad' } as const

/** Bytes confirmed, sent and saved, and the responses as they arrive. */
export function WirePanel({ wire, lines = true }: { wire: Wire; lines?: boolean }) {
  const share = (bytes: number) => (wire.totalBytes > 0 ? (bytes / wire.totalBytes) * 100 : 0)
  return (
    <div>
      <div className="relative h-2 overflow-hidden rounded-full bg-hover" aria-hidden>
        <div
          className="absolute inset-y-0 left-0 bg-water/35"
          style={{ width: `${share(wire.sentBytes)}%` }}
        />
        <div
          className="absolute inset-y-0 left-0 bg-water transition-[width]"
          style={{ width: `${share(wire.confirmedBytes)}%` }}
        />
      </div>
      <dl className="mt-3 grid grid-cols-3 gap-3 text-sm">
        <Figure
          name="Confirmed offset"
          value={formatBytes(wire.confirmedBytes)}
          id="confirmed"
          exact={wire.confirmedBytes}
        />
        <Figure name="Resumes" value={String(wire.resumes)} id="resumes" exact={wire.resumes} />
        <Figure name="Bytes saved" value={formatBytes(wire.savedBytes)} id="saved" exact={wire.savedBytes} />
      </dl>
      {wire.waiting && (
        <p className="mt-3 flex items-center gap-2 rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
          <Hourglass className="size-4 shrink-0" aria-hidden />
          <span className="min-w-0">
            <span className="font-medium">{wire.waiting}.</span> Retrying automatically.
          </span>
        </p>
      )}
      <p className="sr-only" role="status">
        {wire.waiting ? `${wire.waiting}. Retrying automatically. ` : ''}
        {wire.done
          ? `${wire.filename} was uploaded.`
          : wire.failed
            ? `${wire.filename} could not be uploaded.`
            : wire.resumes > 0
              ? `Resumed ${plural(wire.resumes, 'time')}, ${formatBytes(wire.savedBytes)} saved.`
              : ''}
      </p>
      {lines && wire.lines.length > 0 && (
        <ol
          {...REACHABLE}
          className="mt-4 max-h-44 space-y-0.5 overflow-y-auto border-t pt-3 font-mono text-xs"
          aria-label="Requests and responses"
        >
          {wire.lines.toReversed().map(({ id, at, text, tone }) => (
            <li key={id} className={`flex gap-3 ${TONES[tone]}`}>
              <span className="tnum shrink-0 text-ink-faint">{new Date(at).toISOString().slice(11, 21)}</span>
              {text}
            </li>
          ))}
        </ol>
      )}
    </div>
  )
}

function Figure({ name, value, id, exact }: { name: string; value: string; id: string; exact: number }) {
  return (
    <div>
      <dt className="text-ink-faint text-xs">{name}</dt>
      <dd className="tnum font-semibold text-lg" data-figure={id} data-value={exact}>
        {value}
      </dd>
    </div>
  )
}
