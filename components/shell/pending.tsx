'use client'

import { useLinkStatus } from 'next/link'

/** Goes inside a link: marks it from the click until its page arrives. */
export function Pending() {
  const { pending } = useLinkStatus()
  return pending && <span data-pending aria-hidden />
}
