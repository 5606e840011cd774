import { TextLink } from '#components/ui/text-link.tsx'
import { HOOKS } from '#lib/hooks/hook.ts'
import { listDecisions } from '#lib/hooks/list-decisions.ts'
import { listHooks } from '#lib/hooks/pipe-hooks.ts'
import { titledByPipe } from '../../../title-of.ts'
import { currentPipe, type PipeProps } from '../current-pipe.ts'
import { DecisionLog } from './decision-log.tsx'
import { HookPanel } from './hook-panel.tsx'

export const generateMetadata = titledByPipe('Decisions')

export default async function Decisions(props: PipeProps) {
  const { runtime, actor, id } = await currentPipe(props, 'see')
  const [hooks, decisions] = await Promise.all([
    listHooks(runtime, actor, id),
    listDecisions(runtime, actor, id),
  ])
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
