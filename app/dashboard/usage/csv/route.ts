import type { NextRequest } from 'next/server'
import { csvLine } from '#lib/platform/kernel/csv.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { listPipeDays, usageQuery } from '#lib/workspace/usage/report-usage.ts'
import { exportOrProblem } from '../../export-or-problem.ts'

/** A month's usage as CSV, with a line for each day and Pipe. */
export function GET(request: NextRequest): Promise<Response> {
  return exportOrProblem('see', async (runtime, actor) => {
    const month = request.nextUrl.searchParams.get('month') ?? undefined
    const days = await listPipeDays(runtime, actor, parseInput(usageQuery, { month }))
    const lines = days.map(({ date, pipeId, name, bytes }) => csvLine([date, pipeId, name ?? '', bytes]))
    return new Response([csvLine(['date', 'pipe_id', 'pipe', 'bytes']), ...lines].join(''), {
      headers: {
        'Content-Type': 'text/csv; charset=utf-8',
        'Content-Disposition': `attachment; filename="sluice-usage-${month ?? 'this-month'}.csv"`,
      },
    })
  })
}
