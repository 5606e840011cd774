import { pgTable, text } from 'drizzle-orm/pg-core'

/** One text, sealed as secrets are: whoever cannot open it has not their key. */
export const sealedCanary = pgTable('sealed_canary', {
  id: text().primaryKey(),
  sealed: text().notNull(),
})
