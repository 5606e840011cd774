import { expect, it } from 'vitest'
import * as de from '#packages/react/src/languages/de.ts'
import * as en from '#packages/react/src/languages/en.ts'
import * as ja from '#packages/react/src/languages/ja.ts'
import { describeTypes } from './link-limits.tsx'

const tell = (types: string[], { words, linkPage } = en) => describeTypes(types, linkPage.types, words.lang)
const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'

it('describes media types in plain words', () => {
  expect(tell(['video/*', 'image/*'])).toBe('videos and images')
  expect(tell(['video/*', 'image/*', 'image/svg+xml'], de)).toBe('Videos, Bilder und SVG-Dateien')
  expect(tell(['video/*', 'image/*'], ja)).toBe('動画、画像')
  expect(tell(['audio/x-wav', 'application/msword', WORD])).toBe('WAV files and Word files')
  expect(tell(['application/vnd.example'])).toBe('application/vnd.example files')
})
