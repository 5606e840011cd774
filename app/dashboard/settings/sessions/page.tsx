import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { Status } from '#components/ui/status.tsx'
import { ACTIONS, NAME, SOFT, Table } from '#components/ui/table.tsx'
import { Time } from '#components/ui/time.tsx'
import { listSessions } from '#lib/identity/sessions/sessions.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { requireSession } from '../../../session.ts'
import { endOtherSessions, endSession } from './actions.ts'
import { describeAgent } from './describe-agent.ts'

export const metadata = { title: 'Sessions' }

export default async function Sessions() {
  const sessions = await listSessions(getRuntime(), await requireSession('see'))
  return (
    <>
      <div className="mb-3 flex items-center justify-between gap-3">
        <p className="text-ink-soft text-sm">The browsers where you are signed in.</p>
        {sessions.length > 1 && (
          <ConfirmDialog
            trigger="Sign all others out…"
            look={{}}
            title="Sign out all other sessions"
            confirm="Sign all others out"
            action={endOtherSessions}
          >
            <p>Only this browser stays signed in.</p>
          </ConfirmDialog>
        )}
      </div>
      <Table
        caption="Sessions"
        rows={sessions}
        columns={[
          [
            'Browser',
            ({ userAgent, current }) => (
              <span className="flex items-center gap-2">
                {describeAgent(userAgent)}
                {current && <Status state="active" label="this session" />}
              </span>
            ),
            { ...NAME, hint: ({ userAgent }) => userAgent ?? undefined },
          ],
          ['Address', ({ address }) => address ?? '–', { className: 'font-mono text-ink-soft text-xs' }],
          ['Signed in', ({ createdAt }) => <Time at={createdAt} />, SOFT],
          ['Last seen', ({ lastSeenAt }) => <Time at={lastSeenAt} />, SOFT],
          ['Actions', ({ id, current }) => !current && <EndSession id={id} />, ACTIONS],
        ]}
      />
    </>
  )
}

function EndSession({ id }: { id: string }) {
  return (
    <ConfirmDialog
      trigger="Sign out"
      title="Sign out this session"
      confirm="Sign out"
      action={endSession.bind(null, id)}
    >
      <p>Anyone using it must sign in again.</p>
    </ConfirmDialog>
  )
}
