import { periodOf } from '#components/lists/filters.ts'

type Query = Record<string, string | undefined>

/** The statuses that the API does not have. */
const SHOWN: Record<string, Query> = {
  waiting: { status: 'uploading', waiting: 'true' },
  awaiting_decision: { decision: 'open' },
  rejected: { decision: 'rejected' },
}

/** The filters in the URL, as API parameters. */
export function wantedFiles(query: Query, pipeId: string | undefined, nowMs: number) {
  const { since, until } = periodOf(query, nowMs)
  return {
    cursor: query.cursor,
    filename: query.filename,
    search: query.search,
    folder: query.folder || undefined,
    ...(SHOWN[query.status ?? ''] ?? { status: query.status }),
    batchId: query.batchId || undefined,
    missingAt: query.missingAt || undefined,
    senderId: query.senderId,
    protocol: query.protocol,
    pipeId: pipeId ?? query.pipeId,
    order: query.order,
    createdAfter: since,
    createdBefore: until,
  }
}
