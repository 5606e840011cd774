import Link from 'next/link'
import { formatBytes, plural } from '#components/format.ts'
import { WorkspaceState } from '#components/operator/workspace-state.tsx'
import { FilterBar } from '#components/ui/filter-bar.tsx'
import { Row, Table, Td, Th } from '#components/ui/table.tsx'
import { Time } from '#components/ui/time.tsx'
import { seeWorkspaces } from '#lib/dashboard/operators/see-workspaces.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { readSearch, type Search } from '../dashboard/page-query.ts'
import { requireOperator } from '../session.ts'

export default async function Workspaces({ searchParams }: { searchParams: Search }) {
  await requireOperator()
  const { search, before } = await readSearch(searchParams)
  const { data, next } = await seeWorkspaces(getRuntime(), { search: search || undefined, before })
  const head = (
    <>
      <Th>Workspace</Th>
      <Th>Owner</Th>
      <Th>Members</Th>
      <Th>This month</Th>
      <Th>Under way</Th>
      <Th>State</Th>
    </>
  )
  return (
    <>
      <FilterBar filters={[{ kind: 'text', name: 'search', label: "Name, or a member's address" }]} />
      <Table caption="Workspaces" head={head}>
        {data.map((workspace) => (
          <Row key={workspace.id}>
            <Td long className="font-medium">
              <Link href={`/operator/workspaces/${workspace.id}`} className="hover:underline">
                {workspace.name}
              </Link>
              <span className="block font-normal text-ink-faint text-xs">
                since <Time at={workspace.createdAt} />
              </span>
            </Td>
            <Td long label="Owner" className="text-ink-soft">
              {workspace.owner ?? 'nobody'}
            </Td>
            <Td label="Members">{workspace.members}</Td>
            <Td label="This month">{formatBytes(workspace.usedBytes)}</Td>
            <Td label="Under way">{workspace.uploadsUnderWay}</Td>
            <Td label="State">
              <WorkspaceState {...workspace} />
              {workspace.problems > 0 && (
                <span className="block text-warn text-xs">{plural(workspace.problems, 'problem')}</span>
              )}
            </Td>
          </Row>
        ))}
      </Table>
      {next && (
        <p className="mt-4 text-sm">
          <Link
            href={`/operator?${new URLSearchParams({ ...(search && { search }), before: next })}`}
            className="text-water underline"
          >
            Older ones
          </Link>
        </p>
      )}
    </>
  )
}
