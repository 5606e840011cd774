import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { type Runtime, setRuntime } from '#lib/platform/runtime.ts'
import { SignUpLink } from './sign-up-link.tsx'

it.each([
  ['open', true],
  ['closed', false],
])('shows a sign-up link with SIGN_UP=%s: %s', (signUp, isShown) => {
  setRuntime({ config: { signUp } } as Runtime)
  expect(renderToStaticMarkup(<SignUpLink>Start free</SignUpLink>).includes('/sign-up')).toBe(isShown)
})
