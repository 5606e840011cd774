import { type MarkedToken, plainText, slugOf } from './read-markdown.ts'
import type { DocSection } from './search-docs.ts'

/** Splits a page into sections, each with all the text under its heading. */
export function sectionsOf(page: { title: string; href: string }, tokens: MarkedToken[]): DocSection[] {
  const sections: DocSection[] = [{ page: page.title, heading: page.title, href: page.href, text: '' }]
  for (const token of tokens) {
    if (token.type === 'heading' && token.depth > 1) {
      const heading = plainText(token.tokens)
      sections.push({ page: page.title, heading, href: `${page.href}#${slugOf(heading)}`, text: '' })
    } else if (token.type !== 'heading' && token.type !== 'space')
      sections.at(-1)!.text += ` ${plainText([token])}`
  }
  return sections.map((section) => ({ ...section, text: section.text.trim() }))
}
