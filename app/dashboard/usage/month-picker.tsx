'use client'

import { useRouter } from 'next/navigation'
import { formatMonth } from '#lib/workspace/usage/format-month.ts'

const MONTHS_BACK = 12

export function MonthPicker({ month, nowMs }: { month: string; nowMs: number }) {
  const router = useRouter()
  return (
    <select
      aria-label="Month"
      value={month}
      onChange={(event) => router.push(`/dashboard/usage?month=${event.target.value}`)}
      className="select-arrow h-8 rounded-md border border-line-strong bg-raised pr-8 pl-2.5 text-sm shadow-raised"
    >
      {monthsUntil(nowMs).map((value) => (
        <option key={value} value={value}>
          {formatMonth(value)}
        </option>
      ))}
    </select>
  )
}

function monthsUntil(nowMs: number): string[] {
  const now = new Date(nowMs)
  return Array.from({ length: MONTHS_BACK }, (_, back) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1)).toISOString().slice(0, 7),
  )
}
