import { integer, pgTable, text } from 'drizzle-orm/pg-core'
import { bytes, id, instant } from './columns.ts'

/** The processes of Sluice that are running, for whoever operates them: each writes its own row again every few seconds. */
export const nodes = pgTable('nodes', {
  id: id(),
  version: text().notNull(),
  roles: text().array().notNull(),
  startedAt: instant().notNull(),
  seenAt: instant().notNull(),
  /** Requests that write uploads at this moment. */
  uploads: integer().notNull(),
  memoryUsedBytes: bytes().notNull(),
  memoryBytes: bytes().notNull(),
})
