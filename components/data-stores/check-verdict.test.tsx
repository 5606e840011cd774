import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import type { DataStoreState } from '#lib/workspace/data-stores/sealed-data-store.ts'
import { CheckVerdict } from './check-verdict.tsx'

const shown = (ok: boolean, state: DataStoreState) =>
  renderToStaticMarkup(<CheckVerdict id="one" ok={ok} state={state} />)

it('says whether uploads go to the bucket, whatever the last check found', () => {
  expect(shown(true, 'ready')).toContain('Uploads can go to this bucket.')
  expect(shown(false, 'unchecked')).toContain('Uploads cannot go to this bucket yet.')
  expect(shown(false, 'ready')).toContain('Uploads still go to this bucket, but are likely to fail.')
  for (const ok of [true, false]) expect(shown(ok, 'off')).toContain('because it is turned off')
})
