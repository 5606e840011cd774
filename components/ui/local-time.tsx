'use client'

import { useEffect, useState } from 'react'
import { formatExact, formatLocal } from '../format.ts'

type Props = { at: Date | string | number; className?: string }

/** The time where the reader is, with UTC on hover. Until its script is there it is UTC, and says so. */
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
