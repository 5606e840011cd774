import { ArrowRight } from 'lucide-react'
import Link from 'next/link'
import { getRuntime } from '#lib/platform/runtime.ts'
import { Calculator } from './calculator.tsx'
import { Markdown } from './markdown.tsx'
import { OnThisPage } from './on-this-page.tsx'
import { ALL_PAGES } from './pages.ts'
import { readDoc } from './read-doc.ts'
import { plainText, readMarkdown, slugOf } from './read-markdown.ts'

export async function DocArticle({ slug }: { slug: string }) {
  const { config } = getRuntime()
  const source = await readDoc(slug, config)
  const headings = readMarkdown(source).flatMap((token) => {
    if (token.type !== 'heading' || token.depth !== 2) return []
    const text = plainText(token.tokens)
    return [{ id: slugOf(text), text }]
  })
  const next = ALL_PAGES[ALL_PAGES.findIndex((page) => page.slug === slug) + 1]
  return (
    <div className="grid gap-x-10 xl:grid-cols-[minmax(0,44rem)_11rem] xl:justify-between">
      <article className="min-w-0 text-[0.9375rem]">
        <Markdown source={source} />
        {slug === 'pricing' && (
          <Calculator freeTierBytes={config.freeTierBytes} pricePerGb={config.pricePerGb} />
        )}
        {next && (
          <Link
            href={`/docs/${next.slug}`}
            prefetch={false}
            className="mt-12 flex items-center justify-between rounded-lg border bg-surface px-4 py-3 hover:bg-hover"
          >
            <span>
              <span className="block text-ink-faint text-xs">Next</span>
              <span className="font-medium">{next.title}</span>
            </span>
            <ArrowRight className="size-4 text-ink-faint" aria-hidden />
          </Link>
        )}
      </article>
      <OnThisPage headings={headings} />
    </div>
  )
}
