import type { LucideIcon } from 'lucide-react'
import Link from 'next/link'
import type { ComponentProps } from 'react'
import { buttonLook, type Look } from './button.tsx'

type Props = ComponentProps<typeof Link> & Look & { icon?: LucideIcon }

export function ButtonLink({ tone, size, icon: Icon, className, children, ...rest }: Props) {
  return (
    <Link className={buttonLook({ tone, size }, className)} {...rest}>
      {Icon && <Icon aria-hidden />}
      {children}
    </Link>
  )
}
