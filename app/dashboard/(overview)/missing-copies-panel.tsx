import { REASONS_IN_WORDS } from '#lib/dashboard/files/words.ts'
import { formatCount, plural } from '#components/format.ts'
import { hrefOf } from '#components/shell/pager.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import type { MissingCopies } from '#lib/dashboard/overview/read-missing-copies.ts'

/** The files missing from each destination, and why. */
export function MissingCopiesPanel({ missing }: { missing: MissingCopies[] }) {
  if (missing.length === 0) return null
  return (
    <Panel
      title="Missing copies"
      description="All required destinations have these files. If the keys of one of them allow reading, Sluice keeps trying to copy the files from there."
      flush
    >
      <ul className="divide-y border-t" aria-label="Destinations with missing files">
        {missing.map(({ dataStoreId, name, files, isMore, reasons }) => (
          <li key={dataStoreId} className="px-4 py-2.5 text-sm">
            <p className="flex flex-wrap items-baseline justify-between gap-x-3">
              <TextLink href={`/dashboard/data-stores/${dataStoreId}`}>{name}</TextLink>
              <TextLink href={hrefOf('/dashboard/files', { missingAt: dataStoreId })}>
                {isMore ? `more than ${formatCount(files)} files` : plural(files, 'file')}
                <span className="sr-only"> missing from {name}</span>
              </TextLink>
            </p>
            <ul className="mt-1 space-y-1 text-ink-soft">
              {reasons.map(({ reason, files: count, givenUp, detail }) => (
                <li key={reason} className="break-words">
                  <span className="tnum font-medium">{formatCount(count)}</span>: {REASONS_IN_WORDS[reason]}
                  {detail && ` ${detail}`}
                  {givenUp > 0 && ` No further attempt will be made for ${formatCount(givenUp)} of them.`}
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
