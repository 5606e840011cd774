import Link from 'next/link'
import { formatBytes, formatUpTo } from '#components/format.ts'
import { Status } from '#components/ui/status.tsx'
import { SOFT, Table } from '#components/ui/table.tsx'
import { Time } from '#components/ui/time.tsx'
import { MOST_WAITING, seeBacklogs, seeFailures, seeNodes, seeStandby } from '#lib/dashboard/operators/see.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { requireOperator } from '../../session.ts'
import { PROBLEMS } from '../workspace-state.tsx'

export const metadata = { title: 'Service' }

const WHAT = { unnamed: true, className: 'font-medium' }

export default async function Service() {
  await requireOperator()
  const runtime = getRuntime()
  const [nodes, backlogs, failures, standby] = await Promise.all([
    seeNodes(runtime),
    seeBacklogs(runtime),
    seeFailures(runtime),
    seeStandby(runtime),
  ])
  return (
    <div className="space-y-7">
      {standby === 'asynchronous' && (
        <p className="text-sm text-warn">
          The database's standby is asynchronous: a failover loses the commits that it has not received.
        </p>
      )}
      <section>
        <h2 className="mb-2 font-semibold text-base">Nodes</h2>
        <Table
          caption="Nodes"
          rows={nodes}
          columns={[
            [
              'Node',
              ({ id, startedAt }) => (
                <>
                  {id.slice(-12)}
                  <span className="block font-sans text-ink-faint">
                    started <Time at={startedAt} />
                  </span>
                </>
              ),
              { unnamed: true, className: 'font-mono text-xs', hint: ({ id }) => id },
            ],
            ['Roles', ({ roles }) => roles.join(', ')],
            ['Version', ({ version }) => version],
            ['Uploads', ({ uploads }) => uploads],
            [
              'Memory',
              ({ memoryUsedBytes: used, memoryBytes: most }) =>
                most > 0 ? `${formatBytes(used)} of ${formatBytes(most)}` : '–',
            ],
            [
              'Last seen',
              ({ silent, seenAt }) => (
                <span className="flex items-center gap-2 text-ink-faint text-xs">
                  <Status state={silent ? 'failed' : 'active'} label={silent ? 'silent' : 'alive'} />
                  <Time at={seenAt} />
                </span>
              ),
            ],
          ]}
        />
      </section>
      <section>
        <h2 className="mb-2 font-semibold text-base">Waiting</h2>
        <Table
          caption="Waiting"
          rows={backlogs}
          rowKey={({ what }) => what}
          columns={[
            ['Kind', ({ what }) => what, WHAT],
            ['Count', ({ waiting }) => formatUpTo(waiting, MOST_WAITING)],
            ['Oldest', ({ oldestAt }) => (oldestAt ? <Time at={oldestAt} /> : '–'), SOFT],
          ]}
        />
      </section>
      <section>
        <h2 className="mb-2 font-semibold text-base">Failing</h2>
        {failures.length === 0 ? (
          <p className="text-ink-soft text-sm">No failing Data Stores or outputs.</p>
        ) : (
          <Table
            caption="Failing"
            rows={failures}
            rowKey={({ workspaceId, kind, subject }) => workspaceId + kind + subject}
            columns={[
              ['Problem', ({ kind }) => PROBLEMS[kind], WHAT],
              ['Name', ({ subject }) => subject, { long: true }],
              [
                'Workspace',
                ({ workspaceId, workspace }) => (
                  <Link href={`/operator/workspaces/${workspaceId}`} className="hover:underline">
                    {workspace}
                  </Link>
                ),
                { long: true },
              ],
              ['Since', ({ raisedAt }) => <Time at={raisedAt} />, SOFT],
            ]}
          />
        )}
      </section>
    </div>
  )
}
