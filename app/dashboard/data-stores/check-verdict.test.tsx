import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it, vi } from 'vitest'
import type { DataStore } from '#lib/workspace/data-stores/data-store.ts'
import type { DataStoreState } from '#lib/workspace/data-stores/sealed-data-store.ts'
import { CheckReport } from './check-report.tsx'
import { CheckVerdict } from './check-verdict.tsx'

// The button for a check uses Next's router, which is missing here.
vi.mock('next/navigation', () => ({ useRouter: () => ({}) }))

const shown = (ok: boolean, state: DataStoreState) =>
  renderToStaticMarkup(<CheckVerdict id="one" ok={ok} state={state} />)

it('says whether uploads go to the bucket, whatever the last check found', () => {
  expect(shown(true, 'ready')).toContain('Uploads can go to this bucket.')
  expect(shown(false, 'unchecked')).toContain('Uploads cannot go to this bucket yet.')
  expect(shown(false, 'ready')).toContain('Uploads still go to this bucket, but are likely to fail.')
  for (const ok of [true, false]) expect(shown(ok, 'off')).toContain('because it is turned off')
})

const PASSED = { checkedAt: '2026-11-28T10:00:00.000Z', ok: true, operations: [] }

it.each([
  ['that passed', PASSED],
  ['that is missing', null],
])('says once that a Data Store is off, after a check %s', (_, check) => {
  const store = { id: 'one', check } as unknown as DataStore
  const html = renderToStaticMarkup(<CheckReport store={store} state="off" />)
  expect(html.split('because it is turned off')).toHaveLength(2)
  expect(html).toContain('href="/dashboard/settings/turned-off"')
})
