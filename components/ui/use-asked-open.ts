'use client'

import { useRouter } from 'next/navigation'
import { useState } from 'react'

/** A dialog that also opens by an address that asks for it, which is then put back: a reload does not ask again. */
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
