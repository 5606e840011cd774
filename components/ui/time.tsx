'use client'

import { useEffect, useState } from 'react'
import { formatExact, formatLocal, formatRelative } from '../format.ts'

type Props = { at: Date | string | number; className?: string }

/**
 * A relative time that keeps up. On hover: the exact one, where the reader is and in UTC, which is all that the server
 * can tell.
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
