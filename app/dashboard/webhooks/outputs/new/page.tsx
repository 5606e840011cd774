import { Panel } from '#components/ui/panel.tsx'
import { inboxUrl } from '#lib/dashboard/inbox.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { showPipe } from '#lib/workspace/pipes/read-pipes.ts'
import { requireSession } from '../../../../session.ts'
import { orNotFound } from '../../../or-not-found.ts'
import { readSearch, type Search } from '../../../page-query.ts'
import { WebhookForm } from '../webhook-form.tsx'

export const metadata = { title: 'New webhook output' }

/** Creates an output for the Pipe in the query or, without one, for the entire workspace. */
export default async function NewOutput({ searchParams }: { searchParams: Search }) {
  const { pipeId } = await readSearch(searchParams)
  const { actor, workspace } = await requireSession('build')
  const runtime = getRuntime()
  const pipe = pipeId ? await orNotFound(showPipe(runtime, actor, pipeId)) : undefined
  return (
    <div className="max-w-3xl">
      <Panel
        title="New webhook output"
        description={
          pipe
            ? `It receives events from the Pipe ${pipe.name}.`
            : 'It receives events from all Pipes in this workspace.'
        }
      >
        <WebhookForm
          pipeId={pipe?.id ?? null}
          output={undefined}
          inboxUrl={inboxUrl(runtime.config, workspace.inboxKey)}
          submit="Create"
          onward
        />
      </Panel>
    </div>
  )
}
