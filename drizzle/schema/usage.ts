import { date, index, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { workspaces } from './accounts.ts'
import { belongsTo, bytes, id, instant } from './columns.ts'

/** A workspace's transfer in a calendar month (UTC), and the reservations of its open uploads. */
export const usageMonths = pgTable(
  'usage_months',
  {
    workspaceId: belongsTo(() => workspaces.id),
    /** '2026-11' */
    month: text().notNull(),
    usedBytes: bytes().notNull().default(0),
    reservedBytes: bytes().notNull().default(0),
    noticed80At: instant(),
    noticed100At: instant(),
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.month] })],
)

export const usageDays = pgTable(
  'usage_days',
  {
    workspaceId: belongsTo(() => workspaces.id),
    pipeId: text().notNull(),
    day: date({ mode: 'string' }).notNull(),
    bytes: bytes().notNull().default(0),
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.day, t.pipeId] }), index().on(t.pipeId, t.day)],
)

/** The events counted for the Overview page: final file statuses and webhook outcomes. */
export const TALLIED = ['transferred', 'failed', 'expired', 'canceled', 'delivered', 'undelivered'] as const
export type Tallied = (typeof TALLIED)[number]

/**
 * Events that are not in `counts` yet, each written by the statement that caused it. The table has no foreign keys and
 * stays small, so it adds almost nothing to the cost of an upload.
 */
export const tallies = pgTable('tallies', {
  id: id().defaultRandom(),
  workspaceId: uuid().notNull(),
  pipeId: text().notNull(),
  what: text({ enum: TALLIED }).notNull(),
  at: instant().notNull(),
  /** For a transferred file: its size, and the time since its creation. */
  bytes: bytes().notNull().default(0),
  tookMs: bytes().notNull().default(0),
  /** For a transferred file. */
  senderId: uuid(),
})

/** The number of events of each kind, by hour, by quarter of a day, and by day (UTC). */
export const counts = pgTable(
  'counts',
  {
    workspaceId: belongsTo(() => workspaces.id),
    span: text({ enum: ['hour', 'quarter', 'day'] }).notNull(),
    /** The start of the period. */
    at: instant().notNull(),
    /** Empty in the row that counts all Pipes together. */
    pipeId: text().notNull(),
    transferred: integer().notNull().default(0),
    failed: integer().notNull().default(0),
    expired: integer().notNull().default(0),
    canceled: integer().notNull().default(0),
    delivered: integer().notNull().default(0),
    undelivered: integer().notNull().default(0),
    bytes: bytes().notNull().default(0),
    /**
     * How many of the transferred files fall into each range of durations, using the scale in
     * `lib/workspace/usage/fold-tallies.ts`.
     */
    durations: integer().array().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.span, t.at, t.pipeId] }),
    index('counts_by_age').on(t.span, t.at),
  ],
)
