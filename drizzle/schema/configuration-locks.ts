import { pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { workspaces } from './accounts.ts'
import { instant } from './columns.ts'

/**
 * Locks held by those who are applying a configuration file to an entire workspace, so that nobody else does at the
 * same time.
 */
export const configurationLocks = pgTable('configuration_locks', {
  workspaceId: uuid()
    .primaryKey()
    .references(() => workspaces.id, { onDelete: 'cascade' }),
  /** A random id for one run. */
  holder: uuid().notNull(),
  /** The account key's name, for display. */
  holderLabel: text().notNull(),
  lockedUntil: instant().notNull(),
})
