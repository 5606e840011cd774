import { ScrollText } from 'lucide-react'
import { choiceFilter, DAY_FILTERS } from '#components/lists/filters.ts'
import { ExportLinks, ListBar } from '#components/lists/list-bar.tsx'
import { Pager } from '#components/shell/pager.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { type Filter, FilterBar } from '#components/ui/filter-bar.tsx'
import { LONG, SOFT_NUMBER, Table } from '#components/ui/table.tsx'
import { Time } from '#components/ui/time.tsx'
import { type AuditLine, auditQuery, listAudit } from '#lib/identity/audit/list-audit.ts'
import { AUDIT_KINDS } from '#lib/identity/audit/record-audit.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { currentActor } from '../../../session.ts'
import { orProblem } from '../../or-not-found.ts'
import { readSearch, type Search } from '../../page-query.ts'
import { AuditDetail } from './audit-detail.tsx'
import { wantedAudit } from './wanted-audit.ts'

export const metadata = { title: 'Audit log' }

const PATH = '/dashboard/settings/audit'

const ACTORS = { user: 'Person', account_key: 'Account key', operator: 'Operator', system: 'Sluice' }

/** The kinds of actor that are shown in parentheses after the label. All other labels make the kind clear. */
const SAID_OF = new Set<AuditLine['actor']['kind']>(['account_key', 'operator'])

const FILTERS: Filter[] = [
  { kind: 'text', name: 'search', label: 'Person or item' },
  choiceFilter('action', 'Action', Object.entries(AUDIT_KINDS)),
  choiceFilter('actorKind', 'By', Object.entries(ACTORS)),
  ...DAY_FILTERS,
]

export default async function Audit({ searchParams }: { searchParams: Search }) {
  const query = await readSearch(searchParams)
  const actor = await currentActor('see')
  const { data, nextCursor, problem } = await orProblem(async () => ({
    previousCursor: null,
    ...(await listAudit(getRuntime(), actor, parseInput(auditQuery, wantedAudit(query)))),
  }))
  return (
    <>
      <p className="mb-3 text-ink-soft text-sm">Every change and who made it. The log cannot be edited.</p>
      <FilterBar filters={FILTERS} />
      {data.length === 0 ? (
        <EmptyState icon={ScrollText} title="Nothing matches these filters">
          {problem ?? 'Remove a filter, or clear all of them.'}
        </EmptyState>
      ) : (
        <>
          <ListBar>
            <ExportLinks path={`${PATH}/export`} query={query} />
          </ListBar>
          <AuditTable lines={data} />
        </>
      )}
      <Pager path={PATH} query={query} nextCursor={nextCursor} />
    </>
  )
}

function AuditTable({ lines }: { lines: AuditLine[] }) {
  return (
    <Table
      caption="Audit log"
      terse
      rows={lines}
      columns={[
        [
          'Action',
          ({ action, detail }) => (
            <>
              <span className="font-mono text-xs">{action}</span>
              <AuditDetail detail={detail} />
            </>
          ),
          { long: true, lead: true, className: 'py-1.5' },
        ],
        [
          'Item',
          ({ subjectLabel, subjectId }) => subjectLabel ?? subjectId ?? '–',
          {
            ...LONG,
            hint: ({ subjectLabel, subjectId }) => [subjectLabel, subjectId].filter(Boolean).join('\n'),
          },
        ],
        [
          'Who',
          ({ actor }) => <Who actor={actor} />,
          { long: true, className: 'py-1.5', hint: ({ actor }) => actor.label },
        ],
        ['When', ({ at }) => <Time at={at} />, SOFT_NUMBER],
      ]}
    />
  )
}

function Who({ actor }: Pick<AuditLine, 'actor'>) {
  return (
    <>
      {actor.label}
      {SAID_OF.has(actor.kind) && <span className="text-ink-faint"> ({ACTORS[actor.kind]})</span>}
      {actor.address && (
        <span className="text-ink-faint text-xs @min-[44rem]:block"> from {actor.address}</span>
      )}
    </>
  )
}
