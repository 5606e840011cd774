import { ChevronLeft } from 'lucide-react'
import Link from 'next/link'
import { PROBLEMS, WorkspaceState } from '#app/operator/workspace-state.tsx'
import { formatBytes, formatUpTo, plural } from '#components/format.ts'
import { ActionForm } from '#components/ui/action-form.tsx'
import { TextArea, TextField } from '#components/ui/field.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { SizeField } from '#components/ui/size-field.tsx'
import { NAME, SOFT, Table } from '#components/ui/table.tsx'
import { Time } from '#components/ui/time.tsx'
import { MOST_COUNTED, seeWorkspace, type WholeWorkspace } from '#lib/dashboard/operators/see.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { orNotFound } from '../../../dashboard/or-not-found.ts'
import { requireOperator } from '../../../session.ts'
import { lift, limit, suspend } from './actions.ts'

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
        <Limits workspace={workspace} />
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
            <ActionForm
              action={lift.bind(null, workspace.id)}
              submitTone="primary"
              submit="Lift the suspension"
            />
          </>
        ) : (
          <ActionForm action={suspend.bind(null, workspace.id)} submit="Suspend" submitTone="danger">
            <TextArea
              name="reason"
              label="Reason"
              hint={
                runtime.config.smtpUrl
                  ? 'Members see the reason in the dashboard and receive it by email.'
                  : 'Members see the reason in the dashboard. This server does not send email.'
              }
              maxLength={500}
              className="max-w-md"
            />
          </ActionForm>
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

function Limits({ workspace }: { workspace: WholeWorkspace }) {
  const { id, transferLimitBytes, tokensPerSecond, memorySharePercent, maxFileBytes } = workspace
  return (
    <ActionForm action={limit.bind(null, id)} submit="Save" width="md">
      <SizeField
        name="transferLimitBytes"
        label="Monthly transfer"
        unitLabel="Unit for Monthly transfer"
        type="number"
        min={0}
        step="any"
        hint="Leave empty for the default quota. 0 means unlimited."
        bytes={transferLimitBytes}
      />
      <TextField
        name="tokensPerSecond"
        label="Tokens per second, for each Sender"
        type="number"
        min={1}
        inputMode="numeric"
        defaultValue={tokensPerSecond ?? ''}
        hint="If empty, 100."
      />
      <TextField
        name="memorySharePercent"
        label="Share of upload memory, percent"
        type="number"
        min={1}
        max={100}
        inputMode="numeric"
        defaultValue={memorySharePercent ?? ''}
        hint="In each process. If empty, the workspace can use all the memory that others leave free. A lower share slows uploads down but loses no data."
      />
      <SizeField
        name="maxFileBytes"
        label="Largest file"
        unitLabel="Unit for Largest file"
        type="number"
        min={0}
        step="any"
        hint="If empty, the bucket and the Pipe set the limit."
        bytes={maxFileBytes}
      />
    </ActionForm>
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
