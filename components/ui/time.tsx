'use client'

import { clsx } from 'clsx'
import { useSyncExternalStore } from 'react'
import { formatDuration, formatExact, formatLocal, formatRelative } from '../format.ts'

const readers = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

/** Calls back every second. All the times on a page share one timer, and only those whose text has changed render. */
export function onTick(read: () => void): () => void {
  readers.add(read)
  timer ??= setInterval(() => {
    for (const read of readers) read()
  }, 1000)
  return () => {
    readers.delete(read)
    if (readers.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}
const useTicking = (read: () => string) => useSyncExternalStore(onTick, read, read)

const never = () => () => {}
/** The viewer's time zone is only known once the script has loaded. */
const useLocal = (atMs: number) =>
  useSyncExternalStore(
    never,
    () => formatLocal(atMs),
    () => undefined,
  )

type Props = { at: Date | string | number; className?: string }

/**
 * A relative time that stays current. On hover, it shows the exact time in the viewer's time zone and in UTC, the only
 * zone the server knows.
 */
export function Time({ at, className }: Props) {
  const atMs = new Date(at).getTime()
  const text = useTicking(() => formatRelative(atMs, Date.now()))
  const local = useLocal(atMs)
  return (
    <time
      dateTime={new Date(atMs).toISOString()}
      title={local ? `${local}\n${formatExact(atMs)}` : formatExact(atMs)}
      className={clsx('tnum whitespace-nowrap', className)}
      suppressHydrationWarning
    >
      {text}
    </time>
  )
}

/** The time in the viewer's time zone, with UTC on hover. Until the script loads, it shows UTC and says so. */
export function LocalTime({ at, className }: Props) {
  const atMs = new Date(at).getTime()
  const local = useLocal(atMs)
  return (
    <time
      dateTime={new Date(atMs).toISOString()}
      title={formatExact(atMs)}
      className={clsx('tnum whitespace-nowrap', className)}
    >
      {local ?? formatExact(atMs)}
    </time>
  )
}

/** A countdown, to the second in the last hour, such as `in 32 s`, then `now`. */
export function Countdown({ at }: { at: string }) {
  const text = useTicking(() => {
    const leftMs = Math.round((Date.parse(at) - Date.now()) / 1000) * 1000
    if (leftMs <= 0) return 'now'
    return `in ${leftMs < 60_000 ? `${leftMs / 1000} s` : formatDuration(leftMs)}`
  })
  return (
    <time dateTime={at} className="tnum" suppressHydrationWarning>
      {text}
    </time>
  )
}
