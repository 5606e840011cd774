import { pgTable, text } from 'drizzle-orm/pg-core'

/** A known string, sealed like a secret. A node that cannot open it has the wrong key. */
export const sealedCanary = pgTable('sealed_canary', {
  id: text().primaryKey(),
  sealed: text().notNull(),
})
