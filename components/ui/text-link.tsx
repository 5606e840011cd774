import { clsx } from 'clsx'
import Link from 'next/link'
import type { ComponentProps } from 'react'

export const LINK = 'text-water underline decoration-water-line underline-offset-3 hover:decoration-current'

/** A link in running text. Pages of the documentation are sent whole, so they are only fetched when one is opened. */
export function TextLink({ className, ...rest }: ComponentProps<typeof Link>) {
  const isDoc = String(rest.href).startsWith('/docs')
  return <Link prefetch={isDoc ? false : null} className={clsx(LINK, className)} {...rest} />
}
