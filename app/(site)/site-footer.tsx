import Link from 'next/link'
import { Wordmark } from '#components/brand/mark.tsx'

const COLUMNS = [
  {
    title: 'Product',
    links: [
      ['/', 'About Sluice'],
      ['/docs/pricing', 'Pricing'],
      ['/docs/self-hosting', 'Self-hosting'],
    ],
  },
  {
    title: 'Documentation',
    links: [
      ['/docs', 'Quickstart'],
      ['/docs/tus-endpoint', 'TUS endpoint'],
      ['/docs/webhooks', 'Webhooks'],
      ['/docs/api', 'API reference'],
    ],
  },
  {
    title: 'For machines',
    links: [
      ['/llms.txt', 'llms.txt'],
      ['/api/v1/openapi.json', 'OpenAPI 3.1'],
    ],
  },
] as const

export function SiteFooter() {
  return (
    <footer className="mt-20 border-t">
      <div className="mx-auto grid max-w-6xl gap-8 px-4 py-10 sm:grid-cols-[1.6fr_1fr_1fr_1fr] sm:px-6">
        <div>
          <Wordmark />
          <p className="mt-3 max-w-64 text-ink-faint text-sm">
            Resumable uploads straight into your own object storage.
          </p>
        </div>
        {COLUMNS.map(({ title, links }) => (
          <nav key={title} aria-label={title}>
            <h2 className="font-medium text-ink-faint text-xs">{title}</h2>
            <ul className="mt-2.5 space-y-1.5">
              {links.map(([href, text]) => (
                <li key={href}>
                  <Link href={href} prefetch={false} className="text-ink-soft text-sm hover:text-ink">
                    {text}
                  </Link>
                </li>
              ))}
            </ul>
          </nav>
        ))}
      </div>
    </footer>
  )
}
