import { Status } from '#components/ui/status.tsx'
import { LONG, NAME, RowLink, SOFT, Table } from '#components/ui/table.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { Time } from '#components/ui/time.tsx'
import { DECIDED_BY_IN_WORDS } from '#lib/dashboard/files/words.ts'
import { HOOKS } from '#lib/hooks/hook.ts'
import { type Decision, listDecisions } from '#lib/hooks/list-decisions.ts'
import { listHooks } from '#lib/hooks/pipe-hooks.ts'
import { explainRejection } from '#lib/hooks/rejection.ts'
import { titledByPipe } from '../../../title-of.ts'
import { currentPipe, type PipeProps } from '../current-pipe.ts'
import { HookPanel } from './hook-panel.tsx'
import { HOOK_WORDS } from './hook-words.ts'

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

function DecisionLog({ decisions }: { decisions: Decision[] }) {
  if (decisions.length === 0) return <p className="text-ink-faint text-sm">No decisions on recent files.</p>
  return (
    <Table
      caption="Latest decisions"
      rows={decisions}
      rowKey={({ fileId, hook }) => `${fileId} ${hook}`}
      columns={[
        [
          'File',
          ({ fileId, filename }) => (
            <RowLink href={`/dashboard/files/${fileId}`} title={filename}>
              {filename}
            </RowLink>
          ),
          NAME,
        ],
        ['Decision', ({ state }) => <Status state={state} />],
        ['Hook', ({ hook }) => HOOK_WORDS[hook].title, SOFT],
        [
          'Reason',
          ({ reason, decidedBy }) => (reason ? explainRejection(reason) : DECIDED_BY_IN_WORDS[decidedBy]),
          LONG,
        ],
        ['When', ({ decidedAt }) => <Time at={decidedAt} />, SOFT],
      ]}
    />
  )
}
