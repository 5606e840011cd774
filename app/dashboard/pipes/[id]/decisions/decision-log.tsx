import { Status } from '#components/ui/status.tsx'
import { LONG, NAME, RowLink, SOFT, Table } from '#components/ui/table.tsx'
import { Time } from '#components/ui/time.tsx'
import { DECIDED_BY_IN_WORDS } from '#lib/dashboard/files/words.ts'
import type { Decision } from '#lib/hooks/list-decisions.ts'
import { explainRejection } from '#lib/hooks/rejection.ts'
import { HOOK_WORDS } from './hook-words.ts'

export function DecisionLog({ decisions }: { decisions: Decision[] }) {
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
