import { headers } from 'next/headers'
import { cache } from 'react'
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

/** The texts in the visitor's language. Only pages that the server marks as translated have any but English ones. */
export const readTexts = cache(async (): Promise<Texts> => {
  const request = await headers()
  const wanted = request.get('x-translated') === 'true' ? wantedIn(request.get('accept-language') ?? '') : []
  const { words, linkPage } = LANGUAGES[languageOf(wanted)]
  return { words, linkPage }
})

/** The languages in an Accept-Language header, the most wanted first. */
export function wantedIn(header: string): string[] {
  const entries = header.split(',').map((entry) => {
    const [tag = '', weight] = entry.split(';').map((part) => part.trim())
    return { tag, weight: Number(weight?.replace(/^q=/i, '') ?? 1) }
  })
  const wanted = entries.filter(({ weight }) => weight > 0)
  return wanted.toSorted((a, b) => b.weight - a.weight).map(({ tag }) => tag)
}
