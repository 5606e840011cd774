import { pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { workspaces } from './accounts.ts'
import { instant } from './columns.ts'

/** Who is changing a whole workspace from a configuration file, so that nobody else does at the same time. */
export const configurationLocks = pgTable('configuration_locks', {
  workspaceId: uuid()
    .primaryKey()
    .references(() => workspaces.id, { onDelete: 'cascade' }),
  /** Random, of one run. */
  holder: uuid().notNull(),
  /** The account key, for people. */
  holderLabel: text().notNull(),
  lockedUntil: instant().notNull(),
})
