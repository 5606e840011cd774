import { words as en } from './languages/en.ts'
import type { SomeWords, Words } from './words.ts'

/** The languages besides English. Pages only load the one that they show. */
const OTHERS = {
  de: () => import('./languages/de.ts'),
  es: () => import('./languages/es.ts'),
  fr: () => import('./languages/fr.ts'),
  ja: () => import('./languages/ja.ts'),
  pt: () => import('./languages/pt.ts'),
}
export type Language = 'en' | keyof typeof OTHERS

/** The first of these languages, such as `de-AT`, that there are texts for; otherwise English. */
export function languageOf(wanted: readonly string[]): Language {
  const known = wanted.map((tag) => tag.split('-', 1)[0]!.toLowerCase())
  return (known.find((tag) => tag === 'en' || Object.hasOwn(OTHERS, tag)) ?? 'en') as Language
}

/** The words of a language. Without them, such as offline, English is better than nothing. */
export async function loadWords(wanted: string): Promise<Words> {
  const language = languageOf([wanted])
  if (language === 'en') return en
  try {
    return withWords(en, (await OTHERS[language]()).words)
  } catch {
    return en
  }
}

/** The language of the page where this element is, or of the browser. */
export function pageLanguage(element: Element): string {
  return element.closest<HTMLElement>('[lang]')?.lang || navigator.language
}

/** Adds the texts that the page replaces. */
export function withWords(base: Words, { reasons, ...given }: SomeWords = {}): Words {
  return { ...base, ...given, reasons: { ...base.reasons, ...reasons } }
}
