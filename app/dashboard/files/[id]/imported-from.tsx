import { Copyable } from '#components/ui/copyable.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { Time } from '#components/ui/time.tsx'
import type { Import } from '#lib/imports/read-imports.ts'

/** The file's source and, while fetching fails, the error. */
export function ImportedFrom({ from }: { from: Import }) {
  const { url, nextAttemptAt, fetching, lastError } = from
  return (
    <Panel title="Imported from">
      <Copyable text={url} what="address" />
      {nextAttemptAt !== null && (
        <p className="mt-2 text-ink-soft text-sm" aria-live="polite">
          {fetching ? 'Fetching the file now.' : lastError}
          {!fetching && (
            <>
              {lastError ? ' Next attempt ' : 'The file will be fetched '}
              <Time at={nextAttemptAt} />.
            </>
          )}
        </p>
      )}
    </Panel>
  )
}
