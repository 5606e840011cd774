import { date, index, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { workspaces } from './accounts.ts'
import { bytes, instant } from './columns.ts'

/** What a workspace transferred in a calendar month (UTC), and what its open uploads have reserved. */
export const usageMonths = pgTable(
  'usage_months',
  {
    workspaceId: uuid()
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
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
    workspaceId: uuid()
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    pipeId: text().notNull(),
    day: date({ mode: 'string' }).notNull(),
    bytes: bytes().notNull().default(0),
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.day, t.pipeId] }), index().on(t.pipeId, t.day)],
)
