import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { plainUppySnippet, REACT_INSTALL, reactUppySnippet } from '#lib/dashboard/embed/browser-snippets.ts'
import { installKit } from '#lib/dashboard/embed/kit.ts'
import {
  type EmbedTarget,
  KIT_HTML_SNIPPET,
  KIT_PAGE_SNIPPET,
  kitExpressSnippet,
  kitRouteSnippet,
  nodeTokenSnippet,
} from '#lib/dashboard/embed/snippets.ts'
import { ROUTES } from '#lib/platform/http/routes.ts'
import { errorCodes } from '#lib/platform/kernel/errors.ts'
import { settings } from '#lib/platform/settings/settings.ts'
import { verificationSnippets } from '#lib/webhooks/signature/verification-snippets.ts'
import type { DocPage } from './pages.ts'

type Addresses = { baseUrl: string; uploadUrl: string }

/** The text with this server's own addresses and the code from the Embed page filled in. */
export async function readDoc(slug: DocPage['slug'], { baseUrl, uploadUrl }: Addresses): Promise<string> {
  const text = await readFile(join(process.cwd(), 'app/(site)/docs/_text', `${slug}.md`), 'utf8')
  const pipeId = '<pipe_id>'
  const target = { baseUrl, uploadUrl: `${uploadUrl}/pipes/${pipeId}/files/`, pipeId }
  const parts = { ...PARTS, ...(await codeOf(target)), base_url: baseUrl, upload_url: uploadUrl }
  return Object.entries(parts).reduce(
    (whole, [name, part]) => whole.replaceAll(`{${name}}`, () => part),
    text,
  )
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
    kit_html: KIT_HTML_SNIPPET.trimEnd(),
    react_install: REACT_INSTALL,
    uploader_react: reactUppySnippet(target).trimEnd(),
    uploader_page: plainUppySnippet(target).trimEnd(),
  }
}

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
  until_reachable: 'Until your receiver is publicly reachable, use the inbox under **Webhooks**.',
}

function tableOf(head: string, rows: string[]): string {
  return [head, head.replace(/[^|]+/g, '---'), ...rows].join('\n')
}
