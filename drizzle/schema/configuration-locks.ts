import { pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { workspaces } from './accounts.ts'
import { instant } from './columns.ts'

/**
 * Each lock is held while a configuration file is applied to an entire workspace, so that only one file is applied at a
 * time.
 */
export const configurationLocks = pgTable('configuration_locks', {
  workspaceId: uuid()
    .primaryKey()
    .references(() => workspaces.id, { onDelete: 'cascade' }),
  /** A random id for the run that holds the lock. */
  holder: uuid().notNull(),
  /** The account key's name, for display. */
  holderLabel: text().notNull(),
  lockedUntil: instant().notNull(),
})
