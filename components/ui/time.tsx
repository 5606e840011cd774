'use client'

import { useEffect, useState } from 'react'
import { formatDuration, formatExact, formatLocal, formatRelative } from '../format.ts'

type Props = { at: Date | string | number; className?: string }

/**
 * A relative time that stays current. On hover, it shows the exact time in the viewer's time zone and in UTC, the only
 * zone the server knows.
 */
export function Time({ at, className }: Props) {
  const atMs = new Date(at).getTime()
  const [now, setNow] = useState(() => Date.now())
  const [local, setLocal] = useState<string>()
  useEffect(() => {
    setNow(Date.now())
    setLocal(formatLocal(atMs))
    const timer = setInterval(() => setNow(Date.now()), 15_000)
    return () => clearInterval(timer)
  }, [atMs])
  return (
    <time
      dateTime={new Date(atMs).toISOString()}
      title={local ? `${local}\n${formatExact(atMs)}` : formatExact(atMs)}
      className={className ?? 'whitespace-nowrap tnum'}
      suppressHydrationWarning
    >
      {formatRelative(atMs, now)}
    </time>
  )
}

/** The time in the viewer's time zone, with UTC on hover. Until the script loads, it shows UTC and says so. */
export function LocalTime({ at, className }: Props) {
  const atMs = new Date(at).getTime()
  const [local, setLocal] = useState<string>()
  useEffect(() => setLocal(formatLocal(atMs)), [atMs])
  return (
    <time
      dateTime={new Date(atMs).toISOString()}
      title={formatExact(atMs)}
      className={className ?? 'whitespace-nowrap tnum'}
    >
      {local ?? formatExact(atMs)}
    </time>
  )
}

/** A countdown, to the second in the last hour, such as `in 32 s`, then `now`. */
export function Countdown({ at }: { at: string }) {
  const atMs = Date.parse(at)
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  const leftMs = Math.round((atMs - now) / 1000) * 1000
  return (
    <time dateTime={at} className="tnum" suppressHydrationWarning>
      {leftMs <= 0 ? 'now' : `in ${leftMs < 60_000 ? `${leftMs / 1000} s` : formatDuration(leftMs)}`}
    </time>
  )
}
