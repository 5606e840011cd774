'use client'

import { useRouter } from 'next/navigation'
import { useRef } from 'react'
import type { Topic } from '#lib/live/read-snapshot.ts'
import { useLive } from './use-live.ts'

const REST_MS = 1000

/** Renders the page anew when what it shows has changed, once a second at most. */
export function LiveRefresh({ topic, paused = false }: { topic: Topic; paused?: boolean }) {
  const router = useRouter()
  const first = useRef(true)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useLive(topic, paused, () => {
    if (first.current) {
      first.current = false
      return
    }
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      router.refresh()
    }, REST_MS)
  })
  return null
}
