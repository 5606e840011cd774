import type { ComponentProps } from 'react'
import { ButtonLink } from '#components/ui/button-link.tsx'
import { getRuntime } from '#lib/platform/runtime.ts'

type Props = Pick<ComponentProps<typeof ButtonLink>, 'size' | 'children'>

/** Renders nothing if sign-up is closed. */
export function SignUpLink(props: Props) {
  if (getRuntime().config.signUp === 'closed') return null
  return <ButtonLink href="/sign-up" tone="primary" {...props} />
}
