import { pgTable, text } from 'drizzle-orm/pg-core'

/** A text sealed like a secret: anyone who cannot open it has the wrong key. */
export const sealedCanary = pgTable('sealed_canary', {
  id: text().primaryKey(),
  sealed: text().notNull(),
})
