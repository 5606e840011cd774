import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { PROGRAMS } from './run-one-of.ts'

/**
 * The site's `/docs` pages are Markdown files, some of them in the repository's `docs`; a link to one of them, or to
 * another page, starts with a slash.
 */
const SITE_DOCS = 'app/(site)/docs/_text'

/** Every relative link in every Markdown file must lead to a file, and every anchor to a heading. */
export function deadLinks(files: string[]): string[] {
  return files.flatMap((file) =>
    linksOf(readFileSync(file, 'utf8'))
      .filter((link) => isDead(file, link))
      .map((link) => `${file}: ${link}`),
  )
}

function linksOf(markdown: string): string[] {
  const text = markdown.replace(/```[\s\S]*?```/g, '').replace(/`[^`\n]*`/g, '')
  return [...text.matchAll(/\]\(([^)\s]+)(?:\s+"[^"]*")?\)/g)]
    .map((match) => match[1]!)
    .filter((link) => !/^[a-z]+:/.test(link))
}

function isDead(from: string, link: string): boolean {
  const [path, anchor] = placeOf(from, link).split('#') as [string, string?]
  const target = path ? join(dirname(from), decodeURIComponent(path)) : from
  if (!existsSync(target)) return true
  return (
    anchor !== undefined && target.endsWith('.md') && !anchorsOf(readFileSync(target, 'utf8')).has(anchor)
  )
}

/** The link relative to the file that contains it. */
function placeOf(from: string, link: string): string {
  if (!link.startsWith('/') || !from.startsWith(SITE_DOCS)) return link
  if (existsSync(join('public', link))) return relative(dirname(from), join('public', link))
  const [page, anchor] = link.split('#') as [string, string?]
  const text = page.match(/^\/docs\/([a-z/-]+)$/)?.[1]
  const group = ['(site)', '(auth)'].find((name) => existsSync(`app/${name}${page}/page.tsx`))
  const files = [`app/${group}${page}/page.tsx`, `docs/${text}.md`, `${SITE_DOCS}/${text}.md`]
  const target = files.find((file) => existsSync(file)) ?? files.at(-1)!
  return `${relative(dirname(from), target)}${anchor ? `#${anchor}` : ''}`
}

function anchorsOf(markdown: string): Set<string> {
  const headings = [...markdown.matchAll(/^#{1,6}\s+(.+)$/gm)].map((match) => match[1]!)
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replace(/\s/g, '-'),
    ),
  )
}

/** The changelog, and files about users' own projects, may mention other commands. */
const isOurs = (file: string) => !/^(CHANGELOG\.md|examples\/|packages\/)/.test(file)

/** Commands that package.json does not have, or subcommands that do not exist. */
export function unknownCommands(files: string[]): string[] {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
  return files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/npm run ([a-z][\w:-]*)(?: -- ([a-z][\w-]*))?/g)]
      .filter(([, command = '', name = '']) => {
        const programs = PROGRAMS[command]
        return programs ? programs[name] === undefined : scripts[command] === undefined
      })
      .map(([text]) => `${file}: ${text}`),
  )
}

if (import.meta.main) {
  const list = ['ls-files', '--cached', '--others', '--exclude-standard', '*.md']
  const files = execFileSync('git', list, { encoding: 'utf8' })
    .split('\n')
    .filter((file) => file && existsSync(file))
  const faults = [
    ...deadLinks(files).map((line) => `dead link in ${line}`),
    ...unknownCommands(files.filter(isOurs)).map((line) => `unknown command in ${line}`),
  ]
  for (const fault of faults) console.log(fault)
  process.exit(faults.length === 0 ? 0 : 1)
}
