import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCodes } from '#lib/platform/kernel/errors.ts'
import { settings } from '#lib/platform/settings/settings.ts'

/** The documentation, in reading order. Each page is a Markdown file in `app/(site)/docs/_text`. */
export const PAGES = [
  {
    slug: 'quickstart',
    title: 'Quickstart',
    summary: 'From nothing to a file in your own bucket, in five minutes.',
  },
  { slug: 'concepts', title: 'Concepts', summary: 'Data Stores, Pipes, Senders, tokens and files.' },
  { slug: 'token-api', title: 'Token API', summary: 'Trade a Sender token for a temporary upload token.' },
  {
    slug: 'tus-endpoint',
    title: 'TUS endpoint',
    summary: 'What the upload address speaks, and what it promises.',
  },
  { slug: 'webhooks', title: 'Webhooks', summary: 'The event, its signature, and how to verify it.' },
  { slug: 'errors', title: 'Errors', summary: 'The shape of an error and every code.' },
  { slug: 'limits', title: 'Limits', summary: 'Sizes, rates, times and the free tier.' },
  { slug: 'self-hosting', title: 'Self-hosting', summary: 'Run all of it yourself.' },
] as const

export type DocPage = (typeof PAGES)[number]

type Addresses = { baseUrl: string; uploadUrl: string }

/** The text with this installation's own addresses in it. */
export async function readDoc(slug: DocPage['slug'], { baseUrl, uploadUrl }: Addresses): Promise<string> {
  const text = await readFile(join(process.cwd(), 'app/(site)/docs/_text', `${slug}.md`), 'utf8')
  return text
    .replaceAll('{base_url}', baseUrl)
    .replaceAll('{upload_url}', uploadUrl)
    .replace('{error_table}', errorTable)
    .replace('{settings_table}', settingsTable)
}

/** From the very tables that the program uses, so that these two never lag behind. */
function errorTable(): string {
  const rows = Object.entries(errorCodes).map(
    ([code, [status, title]]) => `| [${code}](/docs/problems/${code}) | ${status} | ${title} |`,
  )
  return ['| Code | Status | Means |', '|---|---|---|', ...rows].join('\n')
}

function settingsTable(): string {
  const rows = Object.entries(settings).map(
    ([name, { description }]) => `| \`${name}\` | ${description.replaceAll('|', '\\|')} |`,
  )
  return ['| Setting | Meaning |', '|---|---|', ...rows].join('\n')
}
