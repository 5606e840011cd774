import { getRuntime } from '#lib/platform/runtime.ts'
import { ALL_PAGES, GUIDES } from '../(site)/docs/pages.ts'
import { readDoc } from '../(site)/docs/read-doc.ts'

/** The documentation as one text for language models. Guides are only linked, since each repeats the uploader. */
export async function GET(): Promise<Response> {
  const { config } = getRuntime()
  const texts = await Promise.all(
    ALL_PAGES.filter((page) => !GUIDES.some(({ slug }) => slug === page.slug)).map(({ slug }) =>
      readDoc(slug, config),
    ),
  )
  const contents = ALL_PAGES.map(
    ({ slug, title, summary }) => `- [${title}](${config.baseUrl}/docs/${slug}): ${summary}`,
  )
  const body = [
    '# Sluice',
    '',
    '> Resumable uploads (TUS) straight into your own S3 bucket, with a signed webhook once a file is there.',
    '',
    ...contents,
    `- [OpenAPI 3.1](${config.baseUrl}/api/v1/openapi.json): the management API and the token API.`,
    '',
    texts.join('\n\n---\n\n').replaceAll('](/', `](${config.baseUrl}/`),
  ].join('\n')
  return new Response(body, { headers: { 'Content-Type': 'text/plain; charset=utf-8' } })
}
