import { doublePrecision, pgTable, text } from 'drizzle-orm/pg-core'
import { instant } from './columns.ts'

/** Token buckets shared by all nodes: `sender:<id>`, `sign-in:<address>` … */
export const rateLimits = pgTable('rate_limits', {
  key: text().primaryKey(),
  tokens: doublePrecision().notNull(),
  updatedAt: instant().notNull(),
})
