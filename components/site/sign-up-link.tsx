import type { ComponentProps } from 'react'
import { getRuntime } from '#lib/platform/runtime.ts'
import { ButtonLink } from '../ui/button-link.tsx'

type Props = Pick<ComponentProps<typeof ButtonLink>, 'size' | 'children'>

/** Renders nothing if sign-up is closed. */
export function SignUpLink(props: Props) {
  if (getRuntime().config.signUp === 'closed') return null
  return <ButtonLink href="/sign-up" tone="primary" {...props} />
}
