import {
  bigint,
  doublePrecision,
  index,
  integer,
  jsonb,
  pgTable,
  text,
  unique,
  uuid,
} from 'drizzle-orm/pg-core'
import { workspaces } from './accounts.ts'
import { belongsTo, bytes, createdAt, id, instant } from './columns.ts'
import { type ObjectSettings, pipes } from './pipes.ts'

/** The ways in that a Sender can be limited to. HTTP includes imports from URLs, and FTP includes FTPS. */
export const SENDER_SOURCES = ['http', 'sftp', 'ftp'] as const
export type SenderSource = (typeof SENDER_SOURCES)[number]

/** What a Sender may use, and when its silence is reported. Null means no limit, or in a Sender, that of its group. */
const limits = () => ({
  pipeIds: text().array(),
  sources: text({ enum: SENDER_SOURCES }).array(),
  silentHours: integer(),
})

/** Senders that are managed together, such as the cameras at a site. */
export const senderGroups = pgTable(
  'sender_groups',
  {
    id: id(),
    workspaceId: belongsTo(() => workspaces.id),
    name: text().notNull(),
    ...limits(),
    createdAt: createdAt(),
  },
  (t) => [unique().on(t.workspaceId, t.name)],
)

export const senders = pgTable(
  'senders',
  {
    id: id(),
    workspaceId: belongsTo(() => workspaces.id),
    name: text().notNull(),
    tokenHash: text().notNull().unique(),
    tokenLast4: text().notNull(),
    /** The previous token, which remains valid until the overlap after a rotation ends. */
    previousTokenHash: text().unique(),
    previousTokenUntil: instant(),
    requestCount: bigint({ mode: 'number' }).notNull().default(0),
    lastUsedAt: instant(),
    /** Set when the Sender's token was used at the upload endpoint, which means that it was in a browser. */
    exposedAt: instant(),
    exposedOrigin: text(),
    /** When the owner was notified of the exposure. */
    exposedNoticedAt: instant(),
    revokedAt: instant(),
    createdAt: createdAt(),
    /** The state of the token API's rate limit, stored here so that issuing a token takes one statement. */
    rateTokens: doublePrecision(),
    rateUpdatedAt: instant(),
    groupId: uuid(),
    ...limits(),
    /** The address of the last sign-in or token request. */
    lastAddress: text(),
    lastFileAt: instant(),
    /** The total size of its files that were transferred. */
    transferredBytes: bytes().notNull().default(0),
    /** Sign-ins and token requests that were refused although their credential is, or was, this Sender's. */
    refusedCount: bigint({ mode: 'number' }).notNull().default(0),
    refusedAt: instant(),
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
    /** Object settings that replace the Pipe's, if the Pipe allows tokens to replace them. */
    object: jsonb().$type<ObjectSettings>(),
    /** The name of the batch that the token's files belong to. */
    batch: text(),
    /** The upload link that the token was issued for. The link's limits apply to all of its tokens combined. */
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
