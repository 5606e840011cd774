import { TextLink } from '#components/ui/text-link.tsx'
import { HOOKS } from '#lib/hooks/hook.ts'
import { listDecisions } from '#lib/hooks/list-decisions.ts'
import { listHooks } from '#lib/hooks/pipe-hooks.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { currentActor } from '../../../../session.ts'
import { orNotFound } from '../../../or-not-found.ts'
import { titledByPipe } from '../../../title-of.ts'
import { DecisionLog } from './decision-log.tsx'
import { HookPanel } from './hook-panel.tsx'

export const generateMetadata = titledByPipe('Decisions')

export default async function Decisions({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params
  const actor = await currentActor('see')
  const hooks = await orNotFound(listHooks(getRuntime(), actor, id))
  const decisions = await listDecisions(getRuntime(), actor, id)
  return (
    <div className="space-y-8">
      <section aria-labelledby="hooks" className="max-w-3xl space-y-3">
        <h2 id="hooks" className="font-semibold text-lg">
          Decision hooks
        </h2>
        <p className="text-ink-soft text-sm">
          Your backend can decide on each upload and respond to the uploader.{' '}
          <TextLink href="/docs/decision-hooks">How they work</TextLink>
        </p>
        {HOOKS.map((kind) => (
          <HookPanel key={kind} pipeId={id} kind={kind} hook={hooks.find(({ hook }) => hook === kind)} />
        ))}
      </section>
      <section aria-labelledby="log" className="space-y-3">
        <h2 id="log" className="font-semibold text-lg">
          Latest decisions
        </h2>
        <DecisionLog decisions={decisions} />
      </section>
    </div>
  )
}
