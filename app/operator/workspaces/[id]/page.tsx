import { ChevronLeft } from 'lucide-react'
import Link from 'next/link'
import { PROBLEMS, WorkspaceState } from '#app/operator/workspace-state.tsx'
import { formatBytes, formatUpTo, plural } from '#components/format.ts'
import { Panel } from '#components/ui/panel.tsx'
import { NAME, SOFT, Table } from '#components/ui/table.tsx'
import { Time } from '#components/ui/time.tsx'
import { MOST_COUNTED, seeWorkspace, type WholeWorkspace } from '#lib/dashboard/operators/see.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { orNotFound } from '../../../dashboard/or-not-found.ts'
import { requireOperator } from '../../../session.ts'
import { Lift, Limits, Suspend } from './forms.tsx'

export const metadata = { title: 'Workspace' }

export default async function SeenWorkspace({ params }: { params: Promise<{ id: string }> }) {
  await requireOperator()
  const runtime = getRuntime()
  const workspace = await orNotFound(seeWorkspace(runtime, (await params).id))
  return (
    <div className="space-y-5">
      <div>
        <Link
          href="/operator"
          className="mb-1 inline-flex items-center gap-1 text-ink-soft text-sm hover:text-ink"
        >
          <ChevronLeft className="size-3.5" aria-hidden />
          All workspaces
        </Link>
        <h2 className="font-semibold text-lg">{workspace.name}</h2>
        <p className="mt-1 flex flex-wrap items-center gap-x-3 text-ink-soft text-sm">
          <WorkspaceState {...workspace} />
          <span>{formatBytes(workspace.usedBytes)} this month</span>
          <span>
            {formatUpTo(workspace.uploadsUnderWay, MOST_COUNTED)}{' '}
            {workspace.uploadsUnderWay === 1 ? 'upload' : 'uploads'} in progress
          </span>
          <span>{plural(workspace.problems, 'problem')}</span>
        </p>
      </div>
      <Problems alerts={workspace.alerts} />
      <Panel
        title="Limits"
        description="Limits apply on every node within seconds. Uploads in progress can still be completed."
      >
        <Limits
          id={workspace.id}
          transferLimitBytes={workspace.transferLimitBytes}
          tokensPerSecond={workspace.tokensPerSecond}
          memorySharePercent={workspace.memorySharePercent}
          maxFileBytes={workspace.maxFileBytes}
        />
      </Panel>
      <Panel
        tone={workspace.suspendedAt ? 'plain' : 'danger'}
        title="Suspension"
        description="A suspended workspace issues no tokens and accepts no bytes. Uploads keep their offsets, and everything stays readable."
      >
        {workspace.suspendedAt ? (
          <>
            <p className="mb-3 text-sm">
              Suspended <Time at={workspace.suspendedAt} />: {workspace.suspendedReason}
            </p>
            <Lift id={workspace.id} />
          </>
        ) : (
          <Suspend id={workspace.id} sendsMail={Boolean(runtime.config.smtpUrl)} />
        )}
      </Panel>
      <Table
        caption="Members"
        rows={workspace.people}
        rowKey={({ email }) => email}
        columns={[
          ['Member', ({ email }) => email, NAME],
          ['Role', ({ role }) => role],
          ['Second factor', ({ hasSecondFactor }) => (hasSecondFactor ? 'yes' : 'no')],
          ['Last seen', ({ lastSeenAt }) => (lastSeenAt ? <Time at={lastSeenAt} /> : '–'), SOFT],
        ]}
      />
    </div>
  )
}

/** Lists open problems. Each `subject` is the name that its owner gave the item. */
function Problems({ alerts }: Pick<WholeWorkspace, 'alerts'>) {
  if (alerts.length === 0) return null
  return (
    <Table
      caption="Problems"
      rows={alerts}
      rowKey={({ kind, subject }) => kind + subject}
      columns={[
        ['Problem', ({ kind }) => PROBLEMS[kind], { unnamed: true, className: 'font-medium' }],
        ['Name', ({ subject }) => subject, { long: true }],
        ['Since', ({ raisedAt }) => <Time at={raisedAt} />, SOFT],
      ]}
    />
  )
}
