'use client'

import { useEffect, useState } from 'react'

const FIRST_LOOK_MS = 2000
const MAX_PAUSE_MS = 30_000

/**
 * Checks whether the server itself is down, not just this page. If it is, polls until it is back and then reloads the
 * page. If only the page failed, the user can reload it with its button; reloading automatically might never end.
 */
export function useRecovery(): boolean {
  const [out, setOut] = useState(false)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let ended = false
    async function look(seenOut: boolean, pauseMs: number): Promise<void> {
      const ready = await window.fetch('/readyz', { cache: 'no-store' }).then(
        ({ ok }) => ok,
        () => false,
      )
      if (ended) return
      if (ready && seenOut) return window.location.reload()
      if (ready) return
      setOut(true)
      timer = setTimeout(() => look(true, Math.min(pauseMs * 2, MAX_PAUSE_MS)), pauseMs)
    }
    void look(false, FIRST_LOOK_MS)
    return () => {
      ended = true
      clearTimeout(timer)
    }
  }, [])
  return out
}
