import { clsx } from 'clsx'
import Link from 'next/link'
import type { ComponentProps } from 'react'

export const LINK = 'text-water underline decoration-water-line underline-offset-3 hover:decoration-current'

/** A link in running text. */
export function TextLink({ className, ...rest }: ComponentProps<typeof Link>) {
  return <Link className={clsx(LINK, className)} {...rest} />
}
