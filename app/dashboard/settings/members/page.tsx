import { Pager } from '#components/shell/pager.tsx'
import { ACTIONS, NAME, SOFT, Table } from '#components/ui/table.tsx'
import { Time } from '#components/ui/time.tsx'
import { may, ROLES } from '#lib/identity/rights.ts'
import { listInvitations } from '#lib/identity/workspaces/invitations.ts'
import { listMembers, mayManage } from '#lib/identity/workspaces/members.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { requireSession } from '../../../session.ts'
import { orNotFound } from '../../or-not-found.ts'
import { pageOf, readSearch, type Search } from '../../page-query.ts'
import { unsent } from '../unsent.ts'
import { ChangeRole, InviteMember, RemoveMember } from './forms.tsx'
import { PendingInvitations } from './pending-invitations.tsx'

export const metadata = { title: 'Members' }

const PATH = '/dashboard/settings/members'
const MOST_INVITATIONS = 100

export default async function Members({ searchParams }: { searchParams: Search }) {
  const query = await readSearch(searchParams)
  const { actor, workspace } = await requireSession('see')
  const runtime = getRuntime()
  const [{ data: members, nextCursor }, { data: invitations }] = await orNotFound(
    Promise.all([
      listMembers(runtime, actor, pageOf(query)),
      listInvitations(runtime, actor, { limit: MOST_INVITATIONS }),
    ]),
  )
  const roles = ROLES.filter((role) => mayManage(actor, role))
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center justify-between gap-3">
        <p className="max-w-prose text-ink-soft text-sm">
          Viewers see everything except secrets. Developers also upload, and change Pipes, outputs and
          Senders. Admins also manage Data Stores and members. Owners can do everything.
        </p>
        {may(actor, 'administer') && (
          <InviteMember roles={roles} unsent={unsent(runtime.config, workspace)} />
        )}
      </div>
      <Table
        caption="Members"
        rows={members}
        rowKey={({ userId }) => userId}
        columns={[
          [
            'Member',
            ({ userId, email }) => (
              <>
                {email}
                {userId === actor.id && <span className="font-normal text-ink-faint"> (you)</span>}
              </>
            ),
            { ...NAME, hint: ({ name }) => name ?? undefined },
          ],
          ['Role', ({ role }) => role],
          ['Joined', ({ joinedAt }) => <Time at={joinedAt} />, SOFT],
          [
            'Actions',
            ({ userId, email, role }) =>
              mayManage(actor, role) && (
                <span className="inline-flex gap-1">
                  <ChangeRole userId={userId} email={email} role={role} roles={roles} />
                  {userId !== actor.id && <RemoveMember userId={userId} email={email} />}
                </span>
              ),
            ACTIONS,
          ],
        ]}
      />
      <Pager path={PATH} query={query} nextCursor={nextCursor} />
      <PendingInvitations
        invitations={invitations}
        manageable={invitations.filter(({ role }) => mayManage(actor, role)).map(({ id }) => id)}
        nowMs={runtime.clock.now()}
      />
    </>
  )
}
