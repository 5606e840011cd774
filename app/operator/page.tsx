import Link from 'next/link'
import { formatBytes, formatUpTo, plural } from '#components/format.ts'
import { FilterBar } from '#components/ui/filter-bar.tsx'
import { LONG, NAME, Table } from '#components/ui/table.tsx'
import { Time } from '#components/ui/time.tsx'
import { MOST_COUNTED, seeWorkspaces } from '#lib/dashboard/operators/see.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { readSearch, type Search } from '../dashboard/page-query.ts'
import { requireOperator } from '../session.ts'
import { WorkspaceState } from './workspace-state.tsx'

export default async function Workspaces({ searchParams }: { searchParams: Search }) {
  await requireOperator()
  const { search, before } = await readSearch(searchParams)
  const { data, next } = await seeWorkspaces(getRuntime(), { search: search || undefined, before })
  return (
    <>
      <FilterBar filters={[{ kind: 'text', name: 'search', label: "Name, or a member's address" }]} />
      <Table
        caption="Workspaces"
        rows={data}
        columns={[
          [
            'Workspace',
            ({ id, name, createdAt }) => (
              <>
                <Link href={`/operator/workspaces/${id}`} className="hover:underline">
                  {name}
                </Link>
                <span className="block font-normal text-ink-faint text-xs">
                  created <Time at={createdAt} />
                </span>
              </>
            ),
            NAME,
          ],
          ['Owner', ({ owner }) => owner ?? 'none', LONG],
          ['Members', ({ members }) => members],
          ['This month', ({ usedBytes }) => formatBytes(usedBytes)],
          ['In progress', ({ uploadsUnderWay }) => formatUpTo(uploadsUnderWay, MOST_COUNTED)],
          [
            'State',
            (workspace) => (
              <>
                <WorkspaceState {...workspace} />
                {workspace.problems > 0 && (
                  <span className="block text-warn text-xs">{plural(workspace.problems, 'problem')}</span>
                )}
              </>
            ),
          ],
        ]}
      />
      {next && (
        <p className="mt-4 text-sm">
          <Link
            href={`/operator?${new URLSearchParams({ ...(search && { search }), before: next })}`}
            className="text-water underline"
          >
            Older workspaces
          </Link>
        </p>
      )}
    </>
  )
}
