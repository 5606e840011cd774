'use client'

import { useRouter } from 'next/navigation'
import { useState } from 'react'

/**
 * The open state of a dialog that also opens if the URL says so. Closing the dialog resets the URL to `path`, so that a
 * reload does not open it again.
 */
export function useAskedOpen(asked: boolean, path: string): [open: boolean, show: (next: boolean) => void] {
  const router = useRouter()
  const [open, setOpen] = useState(asked)
  const [heard, setHeard] = useState(asked)
  if (asked !== heard) {
    setHeard(asked)
    if (asked) setOpen(true)
  }
  return [
    open,
    (next) => {
      setOpen(next)
      if (!next && asked) router.replace(path, { scroll: false })
    },
  ]
}
