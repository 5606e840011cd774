import type { NextRequest } from 'next/server'
import { auditQuery, eachAuditLine } from '#lib/identity/audit/list-audit.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { exportOrProblem } from '../../../export-or-problem.ts'
import { streamExport } from '../../../stream-export.ts'
import { wantedAudit } from '../wanted-audit.ts'

export function GET(request: NextRequest): Promise<Response> {
  return exportOrProblem('see', (runtime, actor) => {
    const { format, cursor: _, ...query } = Object.fromEntries(request.nextUrl.searchParams)
    return streamExport({
      name: 'sluice-audit-log',
      format: format ?? null,
      pages: eachAuditLine(runtime, actor, parseInput(auditQuery, wantedAudit(query))),
      columns: [
        ...(['id', 'at'] as const),
        ['actor_kind', ({ actor }) => actor.kind],
        ['actor_id', ({ actor }) => actor.id],
        ['actor', ({ actor }) => actor.label],
        ['address', ({ actor }) => actor.address],
        ...(['action', 'subjectId'] as const),
        ['subject', ({ subjectLabel }) => subjectLabel],
        ['detail', ({ detail }) => JSON.stringify(detail)],
      ],
    })
  })
}
