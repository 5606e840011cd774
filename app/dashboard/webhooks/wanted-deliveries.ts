import { periodOf } from '#components/lists/filters.ts'

/** The filters in the URL, as API parameters. */
export function wantedDeliveries(query: Record<string, string | undefined>, nowMs: number) {
  const { pipeId, outputId, state, search, cursor, order } = query
  const { since, until } = periodOf(query, nowMs)
  return { pipeId, outputId, state, search, cursor, order, since, until }
}
