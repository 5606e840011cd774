import { ArrowRight } from 'lucide-react'
import Link from 'next/link'
import { getRuntime } from '#lib/platform/runtime.ts'
import { Markdown } from './markdown.tsx'
import { ALL_PAGES, type DocPage } from './pages.ts'
import { readDoc } from './read-doc.ts'
import { plainText, readMarkdown, slugOf } from './read-markdown.ts'

export async function DocArticle({ slug }: { slug: DocPage['slug'] }) {
  const source = await readDoc(slug, getRuntime().config)
  const sections = readMarkdown(source).flatMap((token) =>
    token.type === 'heading' && token.depth === 2 ? [plainText(token.tokens)] : [],
  )
  const next = ALL_PAGES[ALL_PAGES.findIndex((page) => page.slug === slug) + 1]
  return (
    <div className="grid gap-x-10 xl:grid-cols-[minmax(0,44rem)_11rem] xl:justify-between">
      <article className="min-w-0 text-[0.9375rem]">
        <Markdown source={source} />
        {next && (
          <Link
            href={`/docs/${next.slug}`}
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
      <nav aria-label="On this page" className="sticky top-24 hidden self-start xl:block">
        <h2 className="font-medium text-ink-faint text-xs">On this page</h2>
        <ul className="mt-2 space-y-1 border-l">
          {sections.map((heading) => (
            <li key={heading}>
              <a
                href={`#${slugOf(heading)}`}
                className="-ml-px block border-transparent border-l py-0.5 pl-3 text-ink-soft text-sm hover:border-water hover:text-ink"
              >
                {heading}
              </a>
            </li>
          ))}
        </ul>
      </nav>
    </div>
  )
}
