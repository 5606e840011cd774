import { sql } from 'drizzle-orm'
import {
  boolean,
  index,
  inet,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import { bytes, createdAt, id, instant } from './columns.ts'

export const users = pgTable(
  'users',
  {
    id: id(),
    email: text().notNull(),
    name: text(),
    /** scrypt, in the form that `lib/identity/accounts/password.ts` writes; null for those who only sign in by a provider. */
    passwordHash: text(),
    emailVerifiedAt: instant(),
    /** The operator keeps them out. */
    disabledAt: instant(),
    createdAt: createdAt(),
  },
  (t) => [uniqueIndex('users_email_unique').on(sql`lower(${t.email})`)],
)

/** A user's account at GitHub or Google. */
export const identities = pgTable(
  'identities',
  {
    provider: text().notNull(),
    providerAccountId: text().notNull(),
    userId: uuid()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    createdAt: createdAt(),
  },
  (t) => [primaryKey({ columns: [t.provider, t.providerAccountId] }), index().on(t.userId)],
)

export const sessions = pgTable(
  'sessions',
  {
    id: id(),
    userId: uuid()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    userAgent: text(),
    address: inet(),
    createdAt: createdAt(),
    lastSeenAt: instant().notNull().defaultNow(),
    expiresAt: instant().notNull(),
    revokedAt: instant(),
  },
  (t) => [index().on(t.userId)],
)

/** One-time links of mails: to verify an address, to reset a password. */
export const emailLinks = pgTable(
  'email_links',
  {
    tokenHash: text().primaryKey(),
    userId: uuid()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    purpose: text({ enum: ['verify', 'reset'] }).notNull(),
    email: text().notNull(),
    expiresAt: instant().notNull(),
    usedAt: instant(),
    createdAt: createdAt(),
  },
  (t) => [index().on(t.userId)],
)

/** The owner of everything else. One for each user now; the shape allows several members. */
export const workspaces = pgTable(
  'workspaces',
  {
    id: id(),
    name: text().notNull(),
    demo: boolean().notNull().default(false),
    /** Alerts that are not wanted: `mail:quota_80`, `notice:token_unused`. */
    mutedAlerts: text().array().notNull().default([]),
    /** The unguessable part of the address of the workspace's webhook inbox. */
    inboxKey: text().notNull().unique(),
    /** The demo workspace's sign-in and tokens, sealed: what `demo.json` is written from. */
    demoSealed: text(),
    /** Transfer in a month, where the operator gave more or less than FREE_TIER_BYTES; 0 is unlimited. */
    transferLimitBytes: bytes(),
    createdAt: createdAt(),
  },
  (t) => [uniqueIndex('workspaces_one_demo').on(t.demo).where(sql`${t.demo}`)],
)

export const members = pgTable(
  'members',
  {
    workspaceId: uuid()
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    userId: uuid()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    role: text({ enum: ['owner'] }).notNull(),
    createdAt: createdAt(),
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.userId] }), index().on(t.userId)],
)

export const accountKeys = pgTable(
  'account_keys',
  {
    id: id(),
    workspaceId: uuid()
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    keyHash: text().notNull().unique(),
    last4: text().notNull(),
    lastUsedAt: instant(),
    revokedAt: instant(),
    createdAt: createdAt(),
  },
  (t) => [index().on(t.workspaceId, t.id)],
)

export const auditLog = pgTable(
  'audit_log',
  {
    id: id(),
    workspaceId: uuid()
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    actorKind: text({ enum: ['user', 'account_key', 'system'] }).notNull(),
    actorId: text(),
    /** The words to show for the actor: an e-mail address or the key's name at that time. */
    actorLabel: text().notNull(),
    /** Of the client that asked; null for what Sluice did by itself. */
    clientAddress: text(),
    /** `pipe.created`, `sender.rotated` … */
    action: text().notNull(),
    subjectId: text(),
    subjectLabel: text(),
    detail: jsonb().$type<Record<string, unknown>>().notNull().default({}),
    createdAt: createdAt(),
  },
  (t) => [index().on(t.workspaceId, t.id)],
)

/** Answers to POST requests with an Idempotency-Key, kept for a day. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    workspaceId: uuid()
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    /** Whose answer it is: one account key must not be given the secrets that another made. */
    actorId: text().notNull(),
    key: text().notNull(),
    requestHash: text().notNull(),
    /** Null while the first request is under way. */
    status: integer(),
    /** Encrypted: an answer may hold a secret that is shown once. */
    body: text(),
    createdAt: createdAt(),
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.actorId, t.key] }), index().on(t.createdAt)],
)
