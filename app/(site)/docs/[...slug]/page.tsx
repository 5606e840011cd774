import { notFound } from 'next/navigation'
import { DocArticle } from '../doc-article.tsx'
import { ALL_PAGES } from '../pages.ts'

type Props = { params: Promise<{ slug: string[] }> }

export async function generateMetadata({ params }: Props) {
  const page = await find(params)
  return {
    title: page?.title,
    description: page?.summary,
    alternates: { canonical: page && `/docs/${page.slug}` },
  }
}

export default async function DocPage({ params }: Props) {
  const page = await find(params)
  if (!page) notFound()
  return <DocArticle slug={page.slug} />
}

async function find(params: Props['params']) {
  const slug = (await params).slug.join('/')
  return ALL_PAGES.find((page) => page.slug === slug)
}
