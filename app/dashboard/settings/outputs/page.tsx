import { Webhook } from 'lucide-react'
import { AddOutput, OutputList } from '#app/dashboard/webhooks/outputs/output-list.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { getRuntime } from '#lib/platform/runtime.ts'
import { listWithLatest } from '#lib/webhooks/log/list-deliveries.ts'
import { MAX_OUTPUTS } from '#lib/webhooks/outputs/webhook-output.ts'
import { currentActor } from '../../../session.ts'

export const metadata = { title: 'Workspace webhooks' }

export default async function WorkspaceOutputs() {
  const outputs = await listWithLatest(getRuntime(), await currentActor('see'), {})
  const add = <AddOutput pipeId={null} full={outputs.length >= MAX_OUTPUTS} />
  return (
    <div className="max-w-3xl space-y-4">
      <p className="text-ink-soft text-sm">
        Webhook outputs that receive events from all Pipes and from the workspace itself. A single Pipe's
        outputs are on its own page.
      </p>
      {outputs.length === 0 ? (
        <EmptyState icon={Webhook} title="No workspace outputs yet" action={add}>
          A workspace output receives all events at one address: those of every Pipe, of failing Data Stores,
          and of quota usage.
        </EmptyState>
      ) : (
        <>
          <OutputList outputs={outputs} label="Workspace webhook outputs" />
          {add}
        </>
      )}
    </div>
  )
}
