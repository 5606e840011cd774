import { expect, it } from 'vitest'
import { shownState } from './shown-state.ts'

it('shows a pending delivery as retrying once an attempt has failed', () => {
  expect(shownState({ state: 'pending', attempts: [] })).toBe('pending')
  expect(shownState({ state: 'pending', attempts: [{}] })).toBe('retrying')
  expect(shownState({ state: 'failed', attempts: [{}] })).toBe('failed')
})
