import type { Import } from '#lib/imports/read-imports.ts'
import { Copyable } from '../ui/copyable.tsx'
import { Panel } from '../ui/panel.tsx'
import { Time } from '../ui/time.tsx'

/** Where the file comes from, and while its source fails, what is wrong with it. */
export function ImportedFrom({ from }: { from: Import }) {
  const { url, nextAttemptAt, fetching, lastError } = from
  return (
    <Panel title="Imported from">
      <Copyable text={url} what="address" />
      {nextAttemptAt !== null && (
        <p className="mt-2 text-ink-soft text-sm" aria-live="polite">
          {fetching ? 'It is being fetched.' : lastError}
          {!fetching && (
            <>
              {lastError ? ' Next attempt ' : 'It is fetched '}
              <Time at={nextAttemptAt} />.
            </>
          )}
        </p>
      )}
    </Panel>
  )
}
