import { integer, pgTable, text } from 'drizzle-orm/pg-core'
import { bytes, id, instant } from './columns.ts'

/** Sluice's running processes, shown to the operator. Each rewrites its own row every few seconds. */
export const nodes = pgTable('nodes', {
  id: id(),
  version: text().notNull(),
  roles: text().array().notNull(),
  startedAt: instant().notNull(),
  seenAt: instant().notNull(),
  /** Requests that are currently writing uploads. */
  uploads: integer().notNull(),
  memoryUsedBytes: bytes().notNull(),
  memoryBytes: bytes().notNull(),
})
