import { FileUp } from 'lucide-react'
import { RejectingBanner } from '#components/data-stores/rejecting-banner.tsx'
import { formatBytes, formatCount, plural } from '#components/format.ts'
import { choiceFilter, DAY_FILTERS, itemFilter, pipeFilter, SPAN_FILTER } from '#components/lists/filters.ts'
import { ExportLinks, ListBar } from '#components/lists/list-bar.tsx'
import { LiveTail } from '#components/live/live.tsx'
import { Pager } from '#components/shell/pager.tsx'
import { ButtonLink } from '#components/ui/button-link.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { type Filter, FilterBar } from '#components/ui/filter-bar.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { fileAnswer } from '#lib/dashboard/files/file.ts'
import { fileQuery } from '#lib/dashboard/files/file-query.ts'
import { countFiles, type FileTotals, listFiles } from '#lib/dashboard/files/list-files.ts'
import { PROTOCOL_NAMES } from '#lib/dashboard/files/words.ts'
import { readSnapshot } from '#lib/dashboard/live.ts'
import type { Actor } from '#lib/identity/audit/record-audit.ts'
import { readFailingImports } from '#lib/imports/read-imports.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { listPipes } from '#lib/workspace/pipes/read-pipes.ts'
import { listSenders } from '#lib/workspace/senders/read-senders.ts'
import { orProblem } from '../or-not-found.ts'
import { FileTable } from './file-table.tsx'
import { wantedFiles } from './wanted-files.ts'

const INCLUDED: Record<string, string[]> = {
  uploading: ['waiting'],
  transferring: ['awaiting_decision'],
  failed: ['rejected'],
}

/** Those of the API, each followed by what it includes. */
const STATUSES = fileAnswer.shape.status.options.flatMap((status) => [status, ...(INCLUDED[status] ?? [])])

type Props = {
  actor: Actor
  path: string
  query: Record<string, string | undefined>
  pipeId?: string
  batchName?: string | undefined
}

/** A filterable list of files, for the workspace or one Pipe. */
export async function FileList({ actor, path, query, pipeId, batchName }: Props) {
  const runtime = getRuntime()
  const { mark } = await readSnapshot(runtime.db, actor.workspaceId, 'files')
  const wanted = wantedFiles(query, pipeId, runtime.clock.now())
  const [page, totals, pipes, senders] = await Promise.all([
    orProblem(async () => listFiles(runtime, actor, parseInput(fileQuery, wanted))),
    readTotals(actor, wanted),
    listPipes(runtime, actor, { limit: 100 }),
    listSenders(runtime, actor, { limit: 100 }),
  ])
  const filters: Filter[] = [
    { kind: 'text', name: 'search', label: 'Name, subject or id' },
    choiceFilter(
      'status',
      'Status',
      STATUSES.map((status) => [status, status.replaceAll('_', ' ')]),
    ),
    // Shown only if a link has set them, because nobody types these ids.
    ...(query.batchId
      ? [itemFilter('batchId', 'Batch', [{ id: query.batchId, name: batchName ?? query.batchId }])]
      : []),
    ...(query.missingAt
      ? [{ kind: 'text', name: 'missingAt', label: 'Missing from Data Store' } as const]
      : []),
    ...(pipeId ? [] : [pipeFilter(pipes.data)]),
    itemFilter('senderId', 'Sender', senders.data),
    choiceFilter('protocol', 'Protocol', Object.entries(PROTOCOL_NAMES)),
    SPAN_FILTER,
    { kind: 'text', name: 'folder', label: 'Folder' },
    ...DAY_FILTERS,
  ]
  const filtered = filters.some(({ name }) => query[name]) || Boolean(query.filename || query.cursor)
  return (
    <>
      <RejectingBanner actor={actor} />
      <FilterBar filters={filters} />
      <ListBar>
        {page.data.length > 0 && <Totals totals={totals} order={query.order} />}
        <LiveTail topic="files" seen={mark} />
        {page.data.length > 0 && (
          <ExportLinks path="/dashboard/files/export" query={{ ...query, pipeId: pipeId ?? query.pipeId }} />
        )}
      </ListBar>
      {page.data.length > 0 ? (
        <FileTable
          files={page.data}
          path={path}
          query={query}
          pipeNames={pipeId ? undefined : new Map(pipes.data.map(({ id, name }) => [id, name]))}
          failing={await readFailingImports(runtime, page.data)}
          now={runtime.clock.now()}
        />
      ) : filtered ? (
        <EmptyState icon={FileUp} title="Nothing matches these filters">
          {page.problem ??
            (page.nextCursor
              ? 'No match among the newest files. Select Older to continue.'
              : 'Remove a filter, or clear all of them.')}
        </EmptyState>
      ) : (
        <EmptyState
          icon={FileUp}
          title="No files yet"
          action={
            <IfMay right="operate">
              <ButtonLink
                href={pipeId ? `/dashboard/pipes/${pipeId}/try` : '/dashboard/pipes'}
                tone="primary"
              >
                {pipeId ? 'Try it' : 'Choose a Pipe'}
              </ButtonLink>
            </IfMay>
          }
        >
          Each upload is listed here from the first byte, with its progress, its outcome and every webhook.
        </EmptyState>
      )}
      <Pager path={path} query={query} nextCursor={page.nextCursor} previousCursor={page.previousCursor} />
    </>
  )
}

/** Invalid filters have no totals; the list shows the reason. */
async function readTotals(actor: Actor, wanted: object): Promise<FileTotals | undefined> {
  const query = fileQuery.safeParse(wanted)
  return query.success ? countFiles(getRuntime(), actor, query.data) : undefined
}

/** The number and total size of matching files. If counting all of them is too slow, only the newest are included. */
function Totals({ totals, order }: { totals: FileTotals | undefined; order: string | undefined }) {
  if (!totals) return null
  const { files, bytes, canceled, ofNewest } = totals
  const bySize = order === 'largest' || order === 'smallest'
  return (
    <p className="tnum mr-auto text-ink-faint text-sm">
      {plural(files, 'file')}, {formatBytes(bytes)}
      {canceled > 0 && `, and ${formatCount(canceled)} canceled`}
      {ofNewest !== null &&
        ` among the newest ${formatCount(ofNewest)}${bySize ? ' (only these are sorted)' : ''}; narrow the time range to see more`}
    </p>
  )
}
