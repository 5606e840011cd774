import * as de from '#packages/react/src/languages/de.ts'
import * as en from '#packages/react/src/languages/en.ts'
import * as es from '#packages/react/src/languages/es.ts'
import * as fr from '#packages/react/src/languages/fr.ts'
import * as ja from '#packages/react/src/languages/ja.ts'
import * as pt from '#packages/react/src/languages/pt.ts'
import { type Language, languageOf } from '#packages/react/src/languages.ts'
import type { LinkPage, Words } from '#packages/react/src/words.ts'

export type Texts = { words: Words; linkPage: LinkPage }

const LANGUAGES: Record<Language, Texts> = { de, en, es, fr, ja, pt }

/** What visitors of upload links read, in the first of these languages that there are texts for. */
export function textsIn(wanted: readonly string[]): Texts {
  const { words, linkPage } = LANGUAGES[languageOf(wanted)]
  return { words, linkPage }
}
