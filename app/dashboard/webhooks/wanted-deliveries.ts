import { dayRange } from '#components/lists/filters.ts'
import { minutes, timeAgo } from '#lib/platform/kernel/clock.ts'

/** The filters in the URL, as API parameters. */
export function wantedDeliveries(query: Record<string, string | undefined>, nowMs: number) {
  const within = Number(query.within)
  const { since, until } = dayRange(query)
  return {
    pipeId: query.pipeId,
    outputId: query.outputId,
    state: query.state,
    search: query.search,
    cursor: query.cursor,
    order: query.order,
    since: since ?? (within > 0 ? timeAgo(nowMs, minutes(within)) : undefined),
    until,
  }
}
