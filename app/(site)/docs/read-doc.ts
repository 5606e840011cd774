import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { formatBytes } from '#components/format.ts'
import type { ProviderName } from '#drizzle/schema/index.ts'
import { plainUppySnippet, UPPY_SNIPPETS, uppyPackages } from '#lib/dashboard/embed/browser-snippets.ts'
import { installGo, installKit, installPython } from '#lib/dashboard/embed/kit.ts'
import {
  type EmbedTarget,
  KIT_PAGE_SNIPPET,
  kitExpressSnippet,
  kitHtmlSnippet,
  kitRouteSnippet,
  nodeTokenSnippet,
} from '#lib/dashboard/embed/snippets.ts'
import { ROUTES } from '#lib/platform/http/routes.ts'
import { errorCodes } from '#lib/platform/kernel/errors.ts'
import type { Config } from '#lib/platform/settings/config.ts'
import { settings } from '#lib/platform/settings/settings.ts'
import { verificationSnippets } from '#lib/webhooks/signature/verification-snippets.ts'
import { leastPolicy } from '#lib/workspace/data-stores/policy.ts'
import { PRESETS } from '#lib/workspace/data-stores/presets.ts'
import { ALL_PAGES } from './pages.ts'

type OfServer = Pick<Config, 'baseUrl' | 'uploadUrl'> &
  Partial<Pick<Config, 'freeTierBytes' | 'pricePerGb' | 'pricingText'>>

/** The text with this server's own addresses and the code from the Embed page filled in. */
export async function readDoc(slug: string, server: OfServer): Promise<string> {
  const { baseUrl, uploadUrl } = server
  const text = OF_REPOSITORY.has(slug)
    ? linkPages(await readFile(join(process.cwd(), 'docs', `${slug}.md`), 'utf8'))
    : await readFile(join(process.cwd(), 'app/(site)/docs/_text', `${slug}.md`), 'utf8')
  const pipeId = '<pipe_id>'
  const target = { baseUrl, uploadUrl: `${uploadUrl}/pipes/${pipeId}/files/`, pipeId }
  const parts = {
    ...PARTS,
    ...(await codeOf(target)),
    pricing: pricingOf(server),
    base_url: baseUrl,
    upload_url: uploadUrl,
  }
  return Object.entries(parts).reduce(
    (whole, [name, part]) => whole.replaceAll(`{${name}}`, () => part),
    text,
  )
}

/** Pages that are also read in the repository, where they link to its files. */
export const OF_REPOSITORY = new Set(['operations', 'providers', 'capacity'])

/** Links to pages lead to those pages; of links to other files, the text remains. */
function linkPages(text: string): string {
  return text.replace(
    /\[([^\]]+)\]\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)/g,
    (_, words, file, anchor = '') => {
      const slug = file.replace(/\.md$/, '')
      return ALL_PAGES.some((page) => page.slug === slug) ? `[${words}](/docs/${slug}${anchor})` : words
    },
  )
}

function pricingOf({ freeTierBytes = 10_000_000_000, pricePerGb, pricingText }: OfServer): string {
  if (pricingText) return pricingText
  if (freeTierBytes === 0) return 'Transfer is free on this server, without a limit.'
  const beyond = pricePerGb
    ? `Each GB above that costs ${pricePerGb}.`
    : 'Above that, new uploads are refused until the next month, unless your administrator raises the limit of your workspace.'
  return `${formatBytes(freeTierBytes)} of transfer in each calendar month are free, with unlimited Pipes, Senders and Data Stores. No payment card is required. ${beyond}`
}

async function codeOf(target: EmbedTarget): Promise<Record<string, string>> {
  const verification = (await verificationSnippets()).map(
    ({ language, code }) => [`verify_${language.toLowerCase()}`, code.trimEnd()] as const,
  )
  return {
    ...Object.fromEntries(verification),
    token_node: nodeTokenSnippet(target).trimEnd(),
    kit_install: installKit(target.baseUrl, '@sluice/node', '@sluice/react'),
    kit_install_cli: installKit(target.baseUrl, '@sluice/cli'),
    kit_route: kitRouteSnippet(target).trimEnd(),
    kit_express: kitExpressSnippet(target).trimEnd(),
    kit_page: KIT_PAGE_SNIPPET.trimEnd(),
    kit_html: kitHtmlSnippet(target).trimEnd(),
    python_install: installPython(target.baseUrl),
    go_install: installGo(target.baseUrl),
    uploader_install: installKit(target.baseUrl, '@sluice/uploader'),
    uppy_install: `${installKit(target.baseUrl, '@sluice/uppy')} \\\n  ${uppyPackages('react')}`,
    uppy_react: UPPY_SNIPPETS.react.trimEnd(),
    uppy_vue: UPPY_SNIPPETS.vue.trimEnd(),
    uppy_svelte: UPPY_SNIPPETS.svelte.trimEnd(),
    uppy_page: plainUppySnippet(target).trimEnd(),
  }
}

const EXAMPLE_BUCKET = { bucket: 'acme-media', prefix: '', encryption: null, uses: [] }

/** These tables are generated from those that the program itself uses, so they are always current. */
const PARTS = {
  error_table: tableOf(
    '| Code | Status | Meaning |',
    Object.entries(errorCodes).map(
      ([code, [status, title]]) => `| [${code}](/docs/problems/${code}) | ${status} | ${title} |`,
    ),
  ),
  settings_table: tableOf(
    '| Setting | Meaning |',
    Object.entries(settings).map(
      ([name, { description }]) => `| \`${name}\` | ${description.replaceAll('|', '\\|')} |`,
    ),
  ),
  route_table: tableOf(
    '| Path | Credential checked | Body | At once (each client) |',
    ROUTES.map(
      ({ path, credential, bodyBytes, atOnce, isFixed }) =>
        `| \`${path}\` | ${credential} | ${bodyBytes / 1024} KiB | ${
          isFixed ? 'rendered once' : atOnce ? `${atOnce.most} (${atOnce.most / 2})` : 'not limited'
        } |`,
    ),
  ),
  policies: Object.entries(PRESETS)
    .map(([name, { label, keysHint, region }]) => {
      const provider = name as ProviderName
      const place = { provider, region: 'fixed' in region ? region.fixed : region.example, ...EXAMPLE_BUCKET }
      const policy = leastPolicy(place)
      return `## ${label}\n\nKeys: ${keysHint}. Permissions:\n\n\`\`\`${policy.startsWith('{') ? 'json' : 'text'}\n${policy}\n\`\`\``
    })
    .join('\n\n'),
  until_reachable: 'Until your receiver is publicly reachable, use the inbox under **Webhooks**.',
}

function tableOf(head: string, rows: string[]): string {
  return [head, head.replace(/[^|]+/g, '---'), ...rows].join('\n')
}
