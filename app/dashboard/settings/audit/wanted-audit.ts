import { dayRange } from '#components/lists/filters.ts'

/** The filters in the URL, as API parameters. */
export function wantedAudit(query: Record<string, string | undefined>) {
  const { since, until } = dayRange(query)
  const { cursor, action, actorKind, search } = query
  return {
    cursor: cursor || undefined,
    action: action || undefined,
    actorKind: actorKind || undefined,
    search: search || undefined,
    createdAfter: since,
    createdBefore: until,
  }
}
