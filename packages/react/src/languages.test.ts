import { expect, it } from 'vitest'
import * as de from './languages/de.ts'
import * as en from './languages/en.ts'
import * as es from './languages/es.ts'
import * as fr from './languages/fr.ts'
import * as ja from './languages/ja.ts'
import * as pt from './languages/pt.ts'
import { languageOf, loadWords } from './languages.ts'
import { countIn, describeSize, describeUpload } from './words.ts'

type Texts = string | { [key: string]: Texts }

/** The placeholders in each text. Plural forms count as one text, because the form for 1 may do without the number. */
function placeholdersIn(texts: Texts): unknown {
  if (typeof texts === 'string') return [...texts.matchAll(/\{\w+\}/g)].map(String).sort()
  if (texts.other !== undefined) return placeholdersIn(texts.other)
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, placeholdersIn(text)]))
}

function pluralsIn(texts: Texts): string[] {
  if (typeof texts === 'string') return []
  if (texts.other !== undefined) return [Object.keys(texts).sort().join()]
  return Object.values(texts).flatMap(pluralsIn)
}

it.each([de, es, fr, ja, pt])('has the placeholders of English, and its own plural forms', (language) => {
  const { words, linkPage } = language
  expect(placeholdersIn({ words, linkPage })).toEqual(
    placeholdersIn({ words: en.words, linkPage: en.linkPage }),
  )
  const forms = new Intl.PluralRules(words.lang).resolvedOptions().pluralCategories.toSorted().join()
  expect(new Set(pluralsIn({ words, linkPage }))).toEqual(new Set([forms]))
})

it('chooses the first language that there is, and otherwise English', () => {
  const chosen = [['de-AT', 'en'], ['nl', 'PT-br', 'fr'], ['nl'], [], ['en-GB', 'de'], ['toString']].map(
    languageOf,
  )
  expect(chosen).toEqual(['de', 'pt', 'en', 'en', 'en', 'en'])
})

const failed = { id: 'a', name: 'a.txt', type: '', size: 10, state: 'failed', sentBytes: 0 } as const

it('describes uploads in the language, except reasons that it does not know', async () => {
  const words = await loadWords('de-CH')
  const tell = (more: object) => describeUpload({ ...failed, reason: 'As told.', ...more }, words)
  expect(tell({ code: 'file_too_large', status: 413 })).toBe('Fehlgeschlagen: Die Datei ist zu groß.')
  expect(tell({ code: 'status', status: 418 })).toBe('Fehlgeschlagen: Der Server hat mit 418 geantwortet')
  expect(tell({ code: 'upload_rejected' })).toBe('Fehlgeschlagen: As told.')
  expect(tell({ code: 'toString' })).toBe('Fehlgeschlagen: As told.')
  expect(tell({ state: 'paused', sentBytes: 5 })).toBe('Angehalten bei 50\u00a0%')
})

it('formats sizes and counts as the language does', () => {
  const plain = (text: string) => text.replaceAll(/\s/g, ' ')
  const sizes = ['en', 'de', 'fr'].map((lang) => plain(describeSize(1_536_000, lang)))
  expect(sizes).toEqual(['1.54 MB', '1,54 MB', '1,54 Mo'])
  expect(plain(describeSize(1, 'fr'))).toBe('1 octet')
  const { filesLeft } = fr.linkPage
  const counts = [0, 1, 2, 1_000_000].map((count) => plain(countIn(filesLeft, count, 'fr')))
  expect(counts).toEqual([
    'Encore 0 fichier',
    'Encore 1 fichier',
    'Encore 2 fichiers',
    'Encore 1 000 000 de fichiers',
  ])
})
