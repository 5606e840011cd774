import { bigint, doublePrecision, index, integer, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { workspaces } from './accounts.ts'
import { belongsTo, bytes, createdAt, id, instant } from './columns.ts'
import { type ObjectSettings, pipes } from './pipes.ts'

export const senders = pgTable(
  'senders',
  {
    id: id(),
    workspaceId: belongsTo(() => workspaces.id),
    name: text().notNull(),
    tokenHash: text().notNull().unique(),
    tokenLast4: text().notNull(),
    /** Also valid until the overlap of a rotation ends. */
    previousTokenHash: text().unique(),
    previousTokenUntil: instant(),
    requestCount: bigint({ mode: 'number' }).notNull().default(0),
    lastUsedAt: instant(),
    /** Set when its token reached the TUS endpoint, and so was in a browser. */
    exposedAt: instant(),
    exposedOrigin: text(),
    /** When its owner was notified. */
    exposedNoticedAt: instant(),
    revokedAt: instant(),
    createdAt: createdAt(),
    /** The token API's token bucket is here, so that issuing a token is one statement. */
    rateTokens: doublePrecision(),
    rateUpdatedAt: instant(),
  },
  (t) => [index().on(t.workspaceId, t.id)],
)

/** Temporary upload tokens. */
export const tokens = pgTable(
  'tokens',
  {
    id: id(),
    workspaceId: belongsTo(() => workspaces.id),
    pipeId: text()
      .notNull()
      .references(() => pipes.id, { onDelete: 'cascade' }),
    senderId: belongsTo(() => senders.id),
    tokenHash: text().notNull().unique(),
    subject: text(),
    maxBytes: bytes(),
    maxFiles: integer(),
    filesCreated: integer().notNull().default(0),
    allowedTypes: text().array().notNull().default([]),
    keyPrefix: text().notNull().default(''),
    metadata: jsonb().$type<Record<string, string>>().notNull().default({}),
    /** Replaces the Pipe's settings, if the Pipe lets tokens do that. */
    object: jsonb().$type<ObjectSettings>(),
    /** The name of its files' batch. */
    batch: text(),
    /** The upload link it was issued for, whose limits apply to all its tokens together. */
    linkId: uuid(),
    expiresAt: instant().notNull(),
    revokedAt: instant(),
    createdAt: createdAt(),
  },
  (t) => [
    index().on(t.workspaceId, t.id),
    index().on(t.senderId, t.id),
    index().on(t.pipeId, t.id),
    index().on(t.expiresAt),
  ],
)
