import type { NextRequest } from 'next/server'
import { toProblem } from '#lib/platform/http/problem.ts'
import { csvLine } from '#lib/platform/kernel/csv.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { listPipeDays, usageQuery } from '#lib/workspace/usage/report-usage.ts'
import { currentSession } from '../../../session.ts'

/** A month as a table: a line for each day and Pipe. */
export async function GET(request: NextRequest): Promise<Response> {
  const session = await currentSession()
  if (!session) return Response.redirect(new URL('/login', getRuntime().config.baseUrl))
  try {
    const month = request.nextUrl.searchParams.get('month') ?? undefined
    const days = await listPipeDays(getRuntime(), session.actor, parseInput(usageQuery, { month }))
    const lines = days.map(({ date, pipeId, name, bytes }) => csvLine([date, pipeId, name ?? '', bytes]))
    return new Response([csvLine(['date', 'pipe_id', 'pipe', 'bytes']), ...lines].join(''), {
      headers: {
        'Content-Type': 'text/csv; charset=utf-8',
        'Content-Disposition': `attachment; filename="sluice-usage-${month ?? 'this-month'}.csv"`,
      },
    })
  } catch (error) {
    const { status, headers, body } = toProblem(error, getRuntime().config.baseUrl)
    return new Response(body, { status, headers })
  }
}
