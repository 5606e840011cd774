import type { NextRequest } from 'next/server'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { deliveryQuery, eachDelivery } from '#lib/webhooks/log/list-deliveries.ts'
import { exportOrProblem } from '../../export-or-problem.ts'
import { streamExport } from '../../stream-export.ts'
import { wantedDeliveries } from '../wanted-deliveries.ts'

export function GET(request: NextRequest): Promise<Response> {
  return exportOrProblem('see', (runtime, actor) => {
    const { format, cursor: _, ...query } = Object.fromEntries(request.nextUrl.searchParams)
    const wanted = wantedDeliveries(query, runtime.clock.now())
    return streamExport({
      name: 'sluice-deliveries',
      format: format ?? null,
      pages: eachDelivery(runtime, actor, parseInput(deliveryQuery, wanted)),
      columns: [
        ...(['id', 'eventId', 'event', 'outputId', 'fileId', 'pipeId', 'url', 'state'] as const),
        ['test', ({ test }) => String(test)],
        ...(['createdAt', 'deliveredAt'] as const),
        ['attempts', ({ attempts }) => attempts.length],
        ['last_status', ({ attempts }) => attempts.at(-1)?.status ?? null],
      ],
    })
  })
}
