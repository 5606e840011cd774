'use client'

import { useRouter } from 'next/navigation'
import { useEffect, useRef } from 'react'
import type { Topic } from '#lib/dashboard/live.ts'
import { useLive } from './use-live.ts'

const REST_MS = 1000

/** `seen` is the mark that the server read before what it shows: whatever came after has another one. */
type Props = { topic: Topic; seen: string; paused?: boolean }

/** Renders the page anew when it shows less than is known, once a second at most. */
export function LiveRefresh({ topic, seen, paused = false }: Props) {
  const router = useRouter()
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useLive(topic, paused, ({ mark }) => {
    if (mark === seen) return
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      router.refresh()
    }, REST_MS)
  })
  // What was about to be shown is not, either, once the list is told to stand still.
  useEffect(
    () => () => {
      clearTimeout(timer.current)
      timer.current = undefined
    },
    [paused],
  )
  return null
}
