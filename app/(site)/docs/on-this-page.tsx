export function OnThisPage({ headings }: { headings: { id: string; text: string }[] }) {
  return (
    <nav aria-label="On this page" className="sticky top-24 hidden self-start xl:block">
      <h2 className="font-medium text-ink-faint text-xs">On this page</h2>
      <ul className="mt-2 space-y-1 border-l">
        {headings.map(({ id, text }) => (
          <li key={id}>
            <a
              href={`#${id}`}
              className="-ml-px block border-transparent border-l py-0.5 pl-3 text-ink-soft text-sm [overflow-wrap:anywhere] hover:border-water hover:text-ink"
            >
              {text}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}
