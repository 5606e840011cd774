import { expect, it } from 'vitest'
import { notesFor } from './notes.ts'

const CHANGELOG = `# Changelog

Words.

## Unreleased

- Soon.

## 1.10.0, 2026-11-24

### Uploads
- New.

## 1.1.0, 2026-11-01

- Old.
`

it("takes a version's notes from its chapter", () => {
  expect(notesFor(CHANGELOG, '1.10.0')).toBe('### Uploads\n- New.\n')
  expect(notesFor(CHANGELOG, '1.1.0')).toBe('- Old.\n')
})

it("takes the next version's notes if there is no chapter yet", () => {
  expect(notesFor(CHANGELOG, undefined)).toBe('- Soon.\n')
})

it.each(['1.1', '2.0.0', '1.1.00'])('refuses %s, which has no chapter', (version) => {
  expect(() => notesFor(CHANGELOG, version)).toThrow(`no chapter "## ${version}"`)
})
