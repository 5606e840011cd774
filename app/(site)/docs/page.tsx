import { DocArticle } from './doc-article.tsx'

export const metadata = { title: 'Quickstart', alternates: { canonical: '/docs/quickstart' } }

export default function DocsHome() {
  return <DocArticle slug="quickstart" />
}
