'use client'

import { useEffect, useRef } from 'react'
import { TextField } from '../ui/field.tsx'

/**
 * The token of a mail's link. It stands after the #, which no server sees, so that it is in no log: a script reads it,
 * and without one the person pastes the link.
 */
export function LinkToken() {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (input.current) input.current.value = window.location.hash.slice(1)
  })
  return (
    <>
      <input ref={input} type="hidden" name="link" />
      <noscript>
        <TextField name="link" label="The link from the mail" mono autoComplete="off" />
      </noscript>
    </>
  )
}
