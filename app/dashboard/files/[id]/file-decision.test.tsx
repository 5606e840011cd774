import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it, vi } from 'vitest'
import { RightsProvider } from '#components/ui/rights.tsx'
import type { File } from '#lib/dashboard/files/file.ts'
import { ALL_RIGHTS, may, type Role } from '#lib/identity/rights.ts'
import { AwaitingDecision } from './file-decision.tsx'

// Dialogs use Next's router, which is missing here.
vi.mock('next/navigation', () => ({ useRouter: () => ({}) }))

const decision: NonNullable<File['decision']> = {
  state: 'deferred',
  reason: null,
  result: null,
  decidedBy: null,
  decidedAt: null,
  deferredUntil: '2026-11-28T10:00:00.000Z',
}

it.each<[Role, string[]]>([
  ['viewer', []],
  ['developer', ['Allow', 'Reject…']],
])('shows a %s these buttons for a deferred file: %j', (role, offered) => {
  const rights = ALL_RIGHTS.filter((right) => may({ role }, right))
  const html = renderToStaticMarkup(
    <RightsProvider rights={rights}>
      <AwaitingDecision id="019ab1c2-7d3e-7a41-9c55-2f0e8d6b1a90" decision={decision} />
    </RightsProvider>,
  )
  const buttons = [...html.matchAll(/<button[^>]*>([^<]*)<\/button>/g)].map(([, text]) => text)
  expect(buttons.filter((text) => /^(Allow|Reject…)$/.test(text!))).toEqual(offered)
})
