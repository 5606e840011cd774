import { pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { workspaces } from './accounts.ts'
import { instant } from './columns.ts'

/** Who is applying a configuration file to an entire workspace, so that nobody else does at the same time. */
export const configurationLocks = pgTable('configuration_locks', {
  workspaceId: uuid()
    .primaryKey()
    .references(() => workspaces.id, { onDelete: 'cascade' }),
  /** Random, for one run. */
  holder: uuid().notNull(),
  /** The account key, for display. */
  holderLabel: text().notNull(),
  lockedUntil: instant().notNull(),
})
