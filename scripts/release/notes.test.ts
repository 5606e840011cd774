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

it("reads a version's notes from its section", () => {
  expect(notesFor(CHANGELOG, '1.10.0')).toBe('### Uploads\n- New.\n')
  expect(notesFor(CHANGELOG, '1.1.0')).toBe('- Old.\n')
})

it("returns the next version's notes if no version is given", () => {
  expect(notesFor(CHANGELOG, undefined)).toBe('- Soon.\n')
})

it.each(['1.1', '2.0.0', '1.1.00'])('rejects %s, which has no section', (version) => {
  expect(() => notesFor(CHANGELOG, version)).toThrow(`no section "## ${version}"`)
})
