import { integer, jsonb, pgTable, text } from 'drizzle-orm/pg-core'
import { instant } from './columns.ts'

/** The keys by which clouds recognize this server's statements about Data Stores. */
export const signingKeys = pgTable('signing_keys', {
  /** Counts up, so that nodes that create the next key at the same time agree on one. */
  id: integer().primaryKey(),
  /** The private key, in PEM. */
  sealed: text().notNull(),
  /** The public key, as published. */
  publicKey: jsonb().$type<Record<string, string>>().notNull(),
  createdAt: instant().notNull(),
})
