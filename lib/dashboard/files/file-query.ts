import { and, eq, gt, gte, isNull, lt, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { DECISION_STATES, FILE_PROTOCOLS, FILE_STATUSES, files, IS_FILE } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { pageQuery } from '../../platform/db/page.ts'
import { firstUuidAt, isPipeId, isUuid } from '../../platform/kernel/ids.ts'
import { isPlainText, timeField } from '../../platform/kernel/parse-input.ts'
import { MISSING_COPY } from '../../workspace/data-stores/missing-copies.ts'

const wordField = z
  .string()
  .min(1)
  .max(255)
  .refine(isPlainText, 'must not contain control characters')
  .optional()

const DECISIONS = ['open', ...DECISION_STATES] as const
const FILE_ORDERS = ['newest', 'oldest', 'largest', 'smallest'] as const

/**
 * The filters in `fits` have no index: they search a window of the remaining rows, so that a page costs the same with
 * any filter. A page may therefore contain fewer files than its limit even though there is a next page.
 */
export const fileQuery = pageQuery.extend({
  status: z.enum(FILE_STATUSES, `must be one of ${FILE_STATUSES.join(', ')}`).optional(),
  /** Whether the upload is in progress, but has received no bytes for five minutes. */
  waiting: z.stringbool('must be true or false').optional(),
  /** The state of the file's decision. `open` includes `asked` and `deferred`. */
  decision: z.enum(DECISIONS, `must be one of ${DECISIONS.join(', ')}`).optional(),
  pipeId: z.string().refine(isPipeId, 'must be the id of a Pipe').optional(),
  senderId: z.string().refine(isUuid, 'must be the id of a Sender').optional(),
  batchId: z.string().refine(isUuid, 'must be the id of a batch').optional(),
  /** Partially transferred files whose object is missing at this Data Store. */
  missingAt: z.string().refine(isUuid, 'must be the id of a Data Store').optional(),
  protocol: z.enum(FILE_PROTOCOLS, `must be one of ${FILE_PROTOCOLS.join(', ')}`).optional(),
  /** Part of the filename, case-insensitive. */
  filename: wordField,
  /** The files in one folder, without its subfolders. */
  folder: z
    .string()
    .max(512, 'must have at most 512 characters')
    .refine(isPlainText, 'must not contain control characters')
    .transform((path) => path.replace(/^\/+|\/+$/g, ''))
    .optional(),
  /** Part of the filename or the subject, case-insensitive, or a file's id. */
  search: wordField,
  createdAfter: timeField.optional(),
  createdBefore: timeField.optional(),
  /** `newest` by default. Sorting by size only includes the 10,000 newest files that match the other filters. */
  order: z.enum(FILE_ORDERS, `must be one of ${FILE_ORDERS.join(', ')}`).optional(),
})
export type FileQuery = z.output<typeof fileQuery>

/** How many of the newest files are sorted by size and included in totals. */
export const MAX_COMPARED = 10_000

/** The columns for `fits` and for sorting by size. */
export const LOOKED_AT = sql`id, filename, subject, status, pipe_id, protocol, decision, coalesce(last_byte_at, created_at) as byte_at,
  coalesce(length_bytes, offset_bytes) as size`

/** The filters that use an index: the one by Sender if given, otherwise the one by Pipe or status. */
export function alongIndex(
  actor: Actor,
  query: FileQuery,
  from?: { id: string; down: boolean },
): SQL | undefined {
  const { pipeId, senderId, search, folder, batchId, createdAfter, createdBefore } = query
  const status = statusOf(query)
  return and(
    eq(files.workspaceId, actor.workspaceId),
    search && isUuid(search) ? eq(files.id, search) : undefined,
    folder ? eq(files.folder, folder) : undefined,
    batchId ? eq(files.batchId, batchId) : undefined,
    senderId ? eq(files.senderId, senderId) : undefined,
    !senderId && pipeId ? eq(files.pipeId, pipeId) : undefined,
    !senderId && status ? eq(files.status, status) : undefined,
    from && (from.down ? lt(files.id, from.id) : gt(files.id, from.id)),
    createdAfter ? gte(files.id, firstUuidAt(createdAfter.getTime())) : undefined,
    createdBefore ? lt(files.id, firstUuidAt(createdBefore.getTime())) : undefined,
    listed,
  )
}

/** The filters without an index; undefined if there are none. */
export function fits(query: FileQuery): SQL | undefined {
  const { senderId, pipeId, protocol, filename, search, waiting, decision, missingAt } = query
  const status = statusOf(query)
  const conditions: SQL[] = []
  if (protocol) conditions.push(sql`protocol = ${protocol}`)
  if (filename) conditions.push(sql`filename ilike ${like(filename)}`)
  if (search && !isUuid(search)) {
    conditions.push(sql`(filename ilike ${like(search)} or subject ilike ${like(search)})`)
  }
  if (waiting !== undefined) conditions.push(sql`${IS_WAITING} = ${waiting}`)
  if (decision)
    conditions.push(
      decision === 'open' ? sql`decision in ('asked', 'deferred')` : sql`decision = ${decision}`,
    )
  if (missingAt)
    conditions.push(
      sql`exists (select from file_destinations d where d.file_id = id and d.data_store_id = ${missingAt}::uuid and ${MISSING_COPY})`,
    )
  if (senderId && status) conditions.push(sql`status = ${status}`)
  if (senderId && pipeId) conditions.push(sql`pipe_id = ${pipeId}`)
  return conditions.length > 0 ? sql.join(conditions, sql` and `) : undefined
}

/** The only status that files with missing copies, or with such a decision, can have. */
const statusOf = ({ status, missingAt, decision }: FileQuery) =>
  status ?? (missingAt ? 'partially_transferred' : decision && STATUS_OF_DECISION[decision])

const STATUS_OF_DECISION: Partial<Record<NonNullable<FileQuery['decision']>, FileQuery['status']>> = {
  open: 'transferring',
  asked: 'transferring',
  deferred: 'transferring',
  rejected: 'failed',
}

const like = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`

/** Must match `shownStatus`, which does the same for a single file. */
const IS_WAITING = sql`(status = 'uploading' and byte_at < now() - interval '5 minutes')`

/** The files that customers see. Partial uploads are not listed, only the file that they are concatenated into. */
export const listed = and(isNull(files.erasedAt), IS_FILE)
