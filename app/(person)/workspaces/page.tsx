import { plural } from '#components/format.ts'
import { ActionForm } from '#components/ui/action-form.tsx'
import { TextField } from '#components/ui/field.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { Time } from '#components/ui/time.tsx'
import { withArticle } from '#lib/identity/rights.ts'
import { listWorkspaces } from '#lib/identity/workspaces/workspaces.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { currentSession, requirePerson } from '../../session.ts'
import { create, open } from './actions.ts'

export const metadata = { title: 'Workspaces' }

export default async function Workspaces() {
  const person = await requirePerson()
  const openId = (await currentSession())?.workspace.id
  const workspaces = await listWorkspaces(getRuntime(), person.userId)
  return (
    <>
      <h1 className="mb-6 font-semibold text-2xl tracking-[-0.02em]">Workspaces</h1>
      <Panel title="Your workspaces" flush>
        {workspaces.length === 0 ? (
          <p className="px-4 pb-4 text-ink-soft text-sm">
            You are not in any workspace. Create one, or open an invitation link.
          </p>
        ) : (
          <ul className="divide-y border-t">
            {workspaces.map(({ id, name, role, members, deleteAfter }) => (
              <li key={id} className="flex items-center gap-3 px-4 py-2.5">
                <div className="min-w-0 flex-1">
                  <p className="truncate font-medium text-sm">{name}</p>
                  <p className="text-ink-faint text-xs">
                    {`You are ${withArticle(role)} · ${plural(members, 'member')}`}
                    {deleteAfter && (
                      <>
                        {' · scheduled for deletion '}
                        <Time at={deleteAfter} />
                      </>
                    )}
                  </p>
                </div>
                {id === openId ? (
                  <span className="text-ink-faint text-sm">current</span>
                ) : (
                  <ActionForm
                    action={open.bind(null, id)}
                    className="flex"
                    submit="Open"
                    about={` ${name}`}
                    submitSize="sm"
                  />
                )}
              </li>
            ))}
          </ul>
        )}
      </Panel>
      {getRuntime().config.signUp === 'open' && (
        <Panel title="Create a workspace" className="mt-5">
          <ActionForm action={create} submit="Create" submitTone="plain">
            <TextField name="name" label="Name" maxLength={100} autoComplete="organization" />
          </ActionForm>
        </Panel>
      )}
    </>
  )
}
