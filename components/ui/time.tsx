'use client'

import { useEffect, useState } from 'react'
import { formatExact, formatRelative } from '../format.ts'

type Props = { at: Date | string | number; className?: string }

/** A relative time that keeps up, with the exact one on hover. */
export function Time({ at, className }: Props) {
  const atMs = new Date(at).getTime()
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), 15_000)
    return () => clearInterval(timer)
  }, [])
  return (
    <time
      dateTime={new Date(atMs).toISOString()}
      title={formatExact(atMs)}
      className={className ?? 'whitespace-nowrap tnum'}
      suppressHydrationWarning
    >
      {formatRelative(atMs, now)}
    </time>
  )
}
