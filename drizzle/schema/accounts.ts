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
import { belongsTo, bytes, createdAt, id, instant } from './columns.ts'

export const users = pgTable(
  'users',
  {
    id: id(),
    email: text().notNull(),
    name: text(),
    /**
     * A scrypt hash in the format of `lib/identity/accounts/password.ts`; null for users who only sign in
     * with a provider.
     */
    passwordHash: text(),
    emailVerifiedAt: instant(),
    /**
     * When this account was first used. Unlike a session, this time is never deleted: an unverified account that was
     * never used may be given to someone else.
     */
    enteredAt: instant(),
    /**
     * When the user was last seen in a session that has since been pruned. Sessions that still exist have their own
     * value.
     */
    lastSeenAt: instant(),
    /** When the operator locked the user out. */
    disabledAt: instant(),
    createdAt: createdAt(),
  },
  (t) => [uniqueIndex('users_email_unique').on(sql`lower(${t.email})`)],
)

/** A user's account at a provider: GitHub, Google, or the provider in OIDC_ISSUER. */
export const identities = pgTable(
  'identities',
  {
    provider: text().notNull(),
    providerAccountId: text().notNull(),
    userId: belongsTo(() => users.id),
    /** The email address that the provider reported, for display. */
    email: text(),
    createdAt: createdAt(),
  },
  (t) => [primaryKey({ columns: [t.provider, t.providerAccountId] }), index().on(t.userId)],
)

export const sessions = pgTable(
  'sessions',
  {
    id: id(),
    userId: belongsTo(() => users.id),
    userAgent: text(),
    address: inet(),
    createdAt: createdAt(),
    lastSeenAt: instant().notNull().defaultNow(),
    /**
     * The workspace that is open in the session. If this is null, or the user has left that workspace, the user's first
     * workspace is open.
     */
    workspaceId: uuid(),
    /** When a second-factor code was entered in the session. */
    secondFactorAt: instant(),
    expiresAt: instant().notNull(),
    revokedAt: instant(),
  },
  (t) => [index().on(t.userId)],
)

/** Time-based codes (TOTP) that a user enters after signing in with a password or a provider. */
export const secondFactors = pgTable('second_factors', {
  userId: uuid()
    .primaryKey()
    .references(() => users.id, { onDelete: 'cascade' }),
  /** The TOTP secret, sealed. */
  secret: text().notNull(),
  /** Null until the user has entered a first code, which proves that their authenticator has the secret. */
  enabledAt: instant(),
  /** The time step of the last accepted code. Codes for that step or an earlier one are no longer accepted. */
  lastStep: bytes().notNull().default(0),
  /** SHA-256 of the remaining recovery codes. */
  recoveryHashes: text().array().notNull().default([]),
  /** How many wrong codes have been entered since the last correct one. */
  wrongCodes: integer().notNull().default(0),
  /** Set once too many wrong codes have been entered. From then on, only a recovery code is accepted. */
  lockedAt: instant(),
  createdAt: createdAt(),
})

/** One-time links in emails, to verify an address or reset a password. */
export const emailLinks = pgTable(
  'email_links',
  {
    tokenHash: text().primaryKey(),
    userId: belongsTo(() => users.id),
    purpose: text({ enum: ['verify', 'reset'] }).notNull(),
    email: text().notNull(),
    expiresAt: instant().notNull(),
    usedAt: instant(),
    createdAt: createdAt(),
  },
  (t) => [index().on(t.userId)],
)

/** Workspaces own Pipes, Senders, Data Stores and files. */
export const workspaces = pgTable(
  'workspaces',
  {
    id: id(),
    name: text().notNull(),
    demo: boolean().notNull().default(false),
    /** Muted alerts, such as `mail:quota_80` or `notice:token_unused`. */
    mutedAlerts: text().array().notNull().default([]),
    /** The unguessable part of the workspace's webhook inbox address. */
    inboxKey: text().notNull().unique(),
    /** The demo workspace's credentials and tokens, sealed. `demo.json` is generated from them. */
    demoSealed: text(),
    /** The monthly transfer limit, if the operator set one that differs from FREE_TIER_BYTES. 0 means unlimited. */
    transferLimitBytes: bytes(),
    /** Other limits that the operator set for the workspace. Null means the default. */
    tokensPerSecond: integer(),
    memorySharePercent: integer(),
    maxFileBytes: bytes(),
    /** True if every member needs a second factor to open the workspace. */
    requireSecondFactor: boolean().notNull().default(false),
    /**
     * When the operator suspended the workspace. A suspended workspace issues no tokens and accepts no bytes, but
     * everything is kept and can be read.
     */
    suspendedAt: instant(),
    suspendedReason: text(),
    /**
     * When the workspace's first webhook was counted as delivered. Unlike deliveries, this time is never deleted, so
     * the checklist on the Overview page stays complete.
     */
    webhookDeliveredAt: instant(),
    /**
     * Set if an owner deleted the workspace. Until this time, the workspace can be restored and is treated as
     * suspended.
     */
    deleteAfter: instant(),
    createdAt: createdAt(),
  },
  (t) => [
    uniqueIndex('workspaces_one_demo').on(t.demo).where(sql`${t.demo}`),
    index('workspaces_with_memory_share').on(t.id).where(sql`${t.memorySharePercent} is not null`),
  ],
)

/** Ordered from the fewest rights to the most. The table in `lib/identity/rights.ts` defines the rights. */
export const MEMBER_ROLES = ['viewer', 'developer', 'admin', 'owner'] as const

export const members = pgTable(
  'members',
  {
    workspaceId: belongsTo(() => workspaces.id),
    userId: belongsTo(() => users.id),
    role: text({ enum: MEMBER_ROLES }).notNull(),
    createdAt: createdAt(),
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.userId] }), index().on(t.userId)],
)

/** Invitations to become a member, sent as a link by email. */
export const invitations = pgTable(
  'invitations',
  {
    id: id(),
    workspaceId: belongsTo(() => workspaces.id),
    email: text().notNull(),
    role: text({ enum: MEMBER_ROLES }).notNull(),
    /** The hash of the token in the latest link. */
    tokenHash: text().notNull().unique(),
    /** The inviter's display name. */
    invitedBy: text().notNull(),
    sentAt: instant().notNull(),
    expiresAt: instant().notNull(),
    createdAt: createdAt(),
  },
  // Accepted and withdrawn invitations are deleted, so each address has at most one per workspace.
  (t) => [uniqueIndex('invitations_one_for_each').on(t.workspaceId, sql`lower(${t.email})`)],
)

export const KEY_SCOPES = ['read', 'write', 'admin'] as const

export const accountKeys = pgTable(
  'account_keys',
  {
    id: id(),
    workspaceId: belongsTo(() => workspaces.id),
    name: text().notNull(),
    keyHash: text().notNull().unique(),
    last4: text().notNull(),
    scope: text({ enum: KEY_SCOPES }).notNull().default('admin'),
    /**
     * The user whose rights the key never exceeds; null for a key created by a version that did not record the user.
     */
    createdBy: uuid(),
    expiresAt: instant(),
    lastUsedAt: instant(),
    revokedAt: instant(),
    createdAt: createdAt(),
  },
  (t) => [index().on(t.workspaceId, t.id), index().on(t.createdBy)],
)

export const TURNED_OFF_KINDS = ['account_key', 'sender', 'webhook', 'hook', 'data_store'] as const
export type TurnedOffKind = (typeof TURNED_OFF_KINDS)[number]

/** Things that were turned off when the owner of an email address took over an account that someone else had used. */
export const turnedOff = pgTable(
  'turned_off',
  {
    workspaceId: belongsTo(() => workspaces.id),
    kind: text({ enum: TURNED_OFF_KINDS }).notNull(),
    subjectId: uuid().notNull(),
    turnedOffAt: instant().notNull(),
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.kind, t.subjectId] })],
)

export const auditLog = pgTable(
  'audit_log',
  {
    id: id(),
    workspaceId: belongsTo(() => workspaces.id),
    actorKind: text({ enum: ['user', 'account_key', 'operator', 'system'] }).notNull(),
    actorId: text(),
    /** The actor's display name: an email address or the key's name at that time. */
    actorLabel: text().notNull(),
    /** The client's address; null for actions by Sluice itself. */
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

/** Responses to POST requests with an Idempotency-Key, kept for a day. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    workspaceId: belongsTo(() => workspaces.id),
    /** The actor that the response is for, because an account key must not receive secrets created by another key. */
    actorId: text().notNull(),
    key: text().notNull(),
    requestHash: text().notNull(),
    /** Null while the first request is in progress. */
    status: integer(),
    /** Encrypted: a response may contain a secret that is shown once. */
    body: text(),
    createdAt: createdAt(),
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.actorId, t.key] }), index().on(t.createdAt)],
)
