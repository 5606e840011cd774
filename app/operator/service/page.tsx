import Link from 'next/link'
import { formatBytes } from '#components/format.ts'
import { PROBLEMS } from '#components/operator/problems.ts'
import { Status } from '#components/ui/status.tsx'
import { Row, Table, Td, Th } from '#components/ui/table.tsx'
import { Time } from '#components/ui/time.tsx'
import { seeBacklogs, seeFailures, seeNodes } from '#lib/dashboard/operators/see-service.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { requireOperator } from '../../session.ts'

export const metadata = { title: 'Service' }

export default async function Service() {
  await requireOperator()
  const runtime = getRuntime()
  const [nodes, backlogs, failures] = await Promise.all([
    seeNodes(runtime),
    seeBacklogs(runtime),
    seeFailures(runtime),
  ])
  const heads = (...names: string[]) => names.map((name) => <Th key={name}>{name}</Th>)
  return (
    <div className="space-y-7">
      <section>
        <h2 className="mb-2 font-semibold text-base">Nodes</h2>
        <Table
          caption="Nodes"
          head={heads('Node', 'Roles', 'Version', 'Uploads', 'Memory', 'Last sign of life')}
        >
          {nodes.map((node) => (
            <Row key={node.id}>
              <Td className="font-mono text-xs" title={node.id}>
                {node.id.slice(-12)}
                <span className="block font-sans text-ink-faint">
                  since <Time at={node.startedAt} />
                </span>
              </Td>
              <Td label="Roles">{node.roles.join(', ')}</Td>
              <Td label="Version">{node.version}</Td>
              <Td label="Uploads">{node.uploads}</Td>
              <Td label="Memory">
                {node.memoryBytes > 0
                  ? `${formatBytes(node.memoryUsedBytes)} of ${formatBytes(node.memoryBytes)}`
                  : '–'}
              </Td>
              <Td label="Last sign of life">
                {node.silent ? (
                  <Status state="failed" label="silent" />
                ) : (
                  <Status state="active" label="alive" />
                )}{' '}
                <span className="text-ink-faint text-xs">
                  <Time at={node.seenAt} />
                </span>
              </Td>
            </Row>
          ))}
        </Table>
      </section>
      <section>
        <h2 className="mb-2 font-semibold text-base">Waiting</h2>
        <Table caption="Waiting" head={heads('What', 'How many', 'Oldest')}>
          {backlogs.map(({ what, waiting, oldestAt }) => (
            <Row key={what}>
              <Td className="font-medium">{what}</Td>
              <Td label="How many">{waiting}</Td>
              <Td label="Oldest" className="text-ink-soft">
                {oldestAt ? <Time at={oldestAt} /> : '–'}
              </Td>
            </Row>
          ))}
        </Table>
      </section>
      <section>
        <h2 className="mb-2 font-semibold text-base">Failing</h2>
        {failures.length === 0 ? (
          <p className="text-ink-soft text-sm">No Data Store rejects, and no output fails.</p>
        ) : (
          <Table caption="Failing" head={heads('What', 'Which', 'Workspace', 'Since')}>
            {failures.map(({ workspaceId, workspace, kind, subject, raisedAt }) => (
              <Row key={workspaceId + kind + subject}>
                <Td className="font-medium">{PROBLEMS[kind]}</Td>
                <Td long label="Which">
                  {subject}
                </Td>
                <Td long label="Workspace">
                  <Link href={`/operator/workspaces/${workspaceId}`} className="hover:underline">
                    {workspace}
                  </Link>
                </Td>
                <Td label="Since" className="text-ink-soft">
                  <Time at={raisedAt} />
                </Td>
              </Row>
            ))}
          </Table>
        )}
      </section>
    </div>
  )
}
