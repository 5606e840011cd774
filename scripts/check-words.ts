import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { PHRASES } from './phrases.ts'
import { readOptions } from './read-options.ts'

/** Documentation, and source with its comments, messages, pages and test titles. */
const READ = [
  '*.md',
  '*.ts',
  '*.tsx',
  '*.mjs',
  '*.yaml',
  '*.yml',
  '*.cfg',
  '*.conf',
  'Dockerfile',
  '*openapi.json',
]
/** Leaves out migrations, which never change, and the files where the phrases are defined and tested. */
const isRead = (file: string) => !/^(drizzle\/migrations|scripts\/(phrases|check-words\.test)\.ts)/.test(file)

export function unidiomatic(text: string): string[] {
  return PHRASES.flatMap(({ pattern, instead }) =>
    [...text.matchAll(pattern)].map(({ 0: found, index }) => {
      const line = text.slice(0, index).split('\n').length
      return `${line}: "${found.replace(/\s+/g, ' ')}" is not idiomatic: write "${instead}"`
    }),
  )
}

/** Paragraphs, list items and table rows of a page; comments, messages and other strings of a source file. */
export function textsOf(file: string, text: string): string[] {
  const found = file.endsWith('.md')
    ? text.replace(/^```[\s\S]*?^```/gm, '').split(/\n(?=\s*(?:[-|*]|\d+\.)\s)|\n\n/)
    : [...text.matchAll(COMMENTS), ...text.matchAll(STRINGS), ...text.matchAll(MARKUP)].map(
        ({ groups }) => groups!.text!,
      )
  return found
    .map((each) =>
      each
        .replace(/^\s*\*/gm, '')
        .replace(/\s+/g, ' ')
        .trim(),
    )
    .filter((each) => each.split(' ').length >= 4 && /[a-z]{3}/.test(each))
}

const COMMENTS = /\/\*\*?(?<text>[\s\S]*?)\*\/|^\s*\/\/ (?<text>.*)$/gm
const STRINGS = /(?<quote>['"`])(?<text>[A-Z][^'"`\n\\]* [^'"`\n\\]* [^'"`\n\\]*)\k<quote>/g
const MARKUP = />\s*(?<text>[A-Z][^<>{}=;]{15,}?)\s*</g

/** The same seed selects the same texts as long as they exist. */
export function sampleOf<Text extends string>(texts: Text[], count: number, seed: string): Text[] {
  const rank = (text: string) => createHash('sha256').update(`${seed}\n${text}`).digest('hex')
  const ranked = [...new Set(texts)].map((text) => ({ text, rank: rank(text) }))
  const sorted = ranked.toSorted((one, other) => (one.rank < other.rank ? -1 : 1))
  return sorted.slice(0, count).map(({ text }) => text)
}

if (import.meta.main) {
  const { sample, seed } = readOptions('npm run check -- [--sample <count>] [--seed <text>]', {
    options: { sample: { type: 'string' }, seed: { type: 'string', default: '1' } },
  }).values
  const list = ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...READ]
  const files = execFileSync('git', list, { encoding: 'utf8' }).split('\n').filter(Boolean)
  const read = files
    .filter((file) => isRead(file) && existsSync(file))
    .map((file) => ({ file, text: readFileSync(file, 'utf8') }))
  if (sample !== undefined) {
    const texts = read
      .filter(({ file }) => /\.(md|tsx?)$/.test(file))
      .flatMap(({ file, text }) => textsOf(file, text).map((each) => `${file}: ${each}`))
    for (const text of sampleOf(texts, Number(sample), seed)) console.log(text)
  } else {
    const faults = read.flatMap(({ file, text }) => unidiomatic(text).map((fault) => `${file}:${fault}`))
    for (const fault of faults) console.log(fault)
    process.exit(faults.length === 0 ? 0 : 1)
  }
}
