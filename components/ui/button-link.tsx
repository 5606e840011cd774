import Link from 'next/link'
import type { ComponentProps } from 'react'
import { buttonLook, type Look } from './button.tsx'

type Props = ComponentProps<typeof Link> & Look

export function ButtonLink({ tone, size, className, ...rest }: Props) {
  return <Link className={buttonLook({ tone, size }, className)} {...rest} />
}
