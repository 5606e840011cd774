/** A documentation section under one heading. */
export type DocSection = { page: string; heading: string; href: string; text: string }

export type DocHit = DocSection & { excerpt: string }

const MOST = 8
const AROUND = 60

/** Sections that contain every word, with heading matches first. */
export function searchDocs(sections: DocSection[], query: string): DocHit[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  const scored = sections.map((section) => ({ section, score: scoreOf(section, words) }))
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, MOST)
    .map(({ section }) => ({ ...section, excerpt: excerptOf(section.text, words) }))
}

function scoreOf({ page, heading, text }: DocSection, words: string[]): number {
  let score = 0
  for (const word of words) {
    const inHeading = heading.toLowerCase().includes(word)
    const times = text.toLowerCase().split(word).length - 1
    if (!inHeading && times === 0 && !page.toLowerCase().includes(word)) return 0
    score += (inHeading ? 20 : 0) + Math.min(times, 5)
  }
  return score
}

function excerptOf(text: string, words: string[]): string {
  const at = Math.max(0, ...words.map((word) => text.toLowerCase().indexOf(word)))
  const start = Math.max(0, at - AROUND)
  const cut = text.slice(start, at + 2 * AROUND)
  return `${start > 0 ? '…' : ''}${cut}${at + 2 * AROUND < text.length ? '…' : ''}`
}
