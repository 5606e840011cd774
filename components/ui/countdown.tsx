'use client'

import { useEffect, useState } from 'react'
import { formatDuration } from '../format.ts'

/** `in 32 s`, to the second; `now` from then on. */
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
