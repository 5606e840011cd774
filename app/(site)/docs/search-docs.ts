/** A documentation section under one heading. */
export type DocSection = { page: string; heading: string; href: string; text: string }

export type DocHit = DocSection & { excerpt: string }

/** How often each word occurs, weighted by where: for each word, an entry for each section that has it. */
export type DocIndex = { sections: DocSection[]; words: Map<string, Map<DocSection, number>> }

const MOST = 8
const AROUND = 60
const IN_HEADING = 8
const IN_PAGE_TITLE = 5
/** What further occurrences in a text add is limited: a word that is everywhere says little about one section. */
const MOST_IN_TEXT = 3

export function indexDocs(sections: DocSection[]): DocIndex {
  const words: DocIndex['words'] = new Map()
  for (const section of sections) {
    const weights = new Map<string, number>()
    const add = (text: string, weight: number, most: number) => {
      for (const word of wordsOf(text)) weights.set(word, Math.min((weights.get(word) ?? 0) + weight, most))
    }
    add(section.text, 1, MOST_IN_TEXT)
    add(section.page, IN_PAGE_TITLE, IN_PAGE_TITLE + MOST_IN_TEXT)
    add(section.heading, IN_HEADING, IN_HEADING + IN_PAGE_TITLE + MOST_IN_TEXT)
    for (const [word, weight] of weights) words.set(word, (words.get(word) ?? new Map()).set(section, weight))
  }
  return { sections, words }
}

/** The best sections first: those with more of the words, rarer ones, and in headings. Forgives typing errors. */
export function searchDocs({ sections, words }: DocIndex, query: string): DocHit[] {
  const terms = wordsOf(query)
  const asked = terms.filter((term) => !FILLERS.has(term))
  const scores = new Map<DocSection, { score: number; found: number }>()
  for (const term of asked.length > 0 ? asked : terms) {
    const matches = matchesOf(words, term)
    const rarity = Math.log(1 + sections.length / (1 + matches.size))
    for (const [section, weight] of matches) {
      const { score, found } = scores.get(section) ?? { score: 0, found: 0 }
      scores.set(section, { score: score + weight * rarity, found: found + 1 })
    }
  }
  return [...scores]
    .map(([section, { score, found }]) => ({ section, score: score * found ** 2 }))
    .sort((a, b) => b.score - a.score)
    .slice(0, MOST)
    .map(({ section }) => ({ ...section, excerpt: excerptOf(section.text, asked) }))
}

/** The sections with the term, a longer word that starts with it, or a synonym; failing that, with the nearest word. */
function matchesOf(words: DocIndex['words'], term: string): Map<DocSection, number> {
  const wanted = [term, ...(SYNONYMS.find((group) => group.includes(term)) ?? [])]
  const known = [...words.keys()]
  const isWanted = (word: string) =>
    wanted.some((one) => word === one || (one.length > 2 && word.startsWith(one)))
  const exact = known.filter(isWanted)
  const near = exact.length > 0 || term.length < 4 ? exact : known.filter((word) => isNear(word, term))
  const matches = new Map<DocSection, number>()
  for (const word of near) {
    const share = wanted.includes(word) ? 1 : 0.7
    for (const [section, weight] of words.get(word)!)
      matches.set(section, Math.max(matches.get(section) ?? 0, weight * share))
  }
  return matches
}

/** Words that readers use for words of the documentation. */
const SYNONYMS = [
  ['cost', 'price', 'pricing', 'free', 'billing'],
  ['delete', 'erase', 'remove'],
  ['login', 'signin', 'sign'],
  ['max', 'maximum', 'largest'],
  ['permission', 'policy'],
  ['production', 'deploy', 'deployment', 'hosting'],
  ['proxy', 'nginx', 'haproxy'],
  ['refresh', 'reload'],
  ['see', 'show'],
  ['type', 'mime'],
  ['user', 'member', 'account'],
  ['windows', 'winscp'],
]

const FILLERS = new Set(
  wordsOf(
    'a an and are at be by can do does for from how i in is it much my of on only or set the to up what with',
  ),
)

/** In lower case, without a plural's ending, so that a query for “types” finds “type”. */
function wordsOf(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []
  return words.map((word) => (word.length > 3 ? word.replace(/(?<![su])s$/, '') : word))
}

/** Whether one letter was added, left out, replaced, or swapped with the next. */
function isNear(word: string, typed: string): boolean {
  if (Math.abs(word.length - typed.length) > 1) return false
  let start = 0
  while (start < word.length && word[start] === typed[start]) start += 1
  const [rest, typedRest] = [word.slice(start), typed.slice(start)]
  return (
    rest.slice(1) === typedRest.slice(1) ||
    rest.slice(1) === typedRest ||
    rest === typedRest.slice(1) ||
    (rest.slice(2) === typedRest.slice(2) && rest[0] === typedRest[1] && rest[1] === typedRest[0])
  )
}

function excerptOf(text: string, words: string[]): string {
  const lower = text.toLowerCase()
  const at = Math.max(0, ...words.map((word) => lower.indexOf(word)))
  const start = at < AROUND ? 0 : text.lastIndexOf(' ', at - AROUND) + 1
  const cut = text.slice(start, at + 2 * AROUND)
  return `${start > 0 ? '…' : ''}${cut}${at + 2 * AROUND < text.length ? '…' : ''}`
}
