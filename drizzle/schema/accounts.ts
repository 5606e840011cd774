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
    /** scrypt, in the form that `lib/identity/accounts/password.ts` writes; null for those who only sign in by a provider. */
    passwordHash: text(),
    emailVerifiedAt: instant(),
    /** When somebody was first in this account. It never goes, as sessions do, since an unproven one that nobody entered may be given away. */
    enteredAt: instant(),
    /** Of the sessions that are pruned; later ones know it themselves. */
    lastSeenAt: instant(),
    /** The operator keeps them out. */
    disabledAt: instant(),
    createdAt: createdAt(),
  },
  (t) => [uniqueIndex('users_email_unique').on(sql`lower(${t.email})`)],
)

/** A user's account at a provider: GitHub, Google, or that of OIDC_ISSUER. */
export const identities = pgTable(
  'identities',
  {
    provider: text().notNull(),
    providerAccountId: text().notNull(),
    userId: belongsTo(() => users.id),
    /** What the provider calls the person; for showing. */
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
    /** The workspace that is open in it; null, or one that they left: the first that they belong to. */
    workspaceId: uuid(),
    /** When a code of the second factor was given in it. */
    secondFactorAt: instant(),
    expiresAt: instant().notNull(),
    revokedAt: instant(),
  },
  (t) => [index().on(t.userId)],
)

/** Codes by time (TOTP) that a user gives beside the password or provider. */
export const secondFactors = pgTable('second_factors', {
  userId: uuid()
    .primaryKey()
    .references(() => users.id, { onDelete: 'cascade' }),
  /** Sealed. */
  secret: text().notNull(),
  /** Null until the first code showed that the authenticator has the secret. */
  enabledAt: instant(),
  /** The step of time of the last code that was accepted: no code of it or before it is accepted again. */
  lastStep: bytes().notNull().default(0),
  /** SHA-256 of the recovery codes that are left. */
  recoveryHashes: text().array().notNull().default([]),
  /** Since the last right one. */
  wrongCodes: integer().notNull().default(0),
  /** From then on only a recovery code is accepted. */
  lockedAt: instant(),
  createdAt: createdAt(),
})

/** One-time links of mails: to verify an address, to reset a password. */
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

/** The owner of everything else. */
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
    /** The other limits that the operator set; null: the usual one. */
    tokensPerSecond: integer(),
    memorySharePercent: integer(),
    maxFileBytes: bytes(),
    /** Nobody enters without a second factor. */
    requireSecondFactor: boolean().notNull().default(false),
    /** The operator suspended it: no tokens, no bytes; everything stays and can be read. */
    suspendedAt: instant(),
    suspendedReason: text(),
    /** When its first webhook was counted as delivered. It never goes, as deliveries do: the Overview's checklist stays done. */
    webhookDeliveredAt: instant(),
    /** Its owner deleted it: until then it can be brought back, and is as a suspended one. */
    deleteAfter: instant(),
    createdAt: createdAt(),
  },
  (t) => [
    uniqueIndex('workspaces_one_demo').on(t.demo).where(sql`${t.demo}`),
    index('workspaces_with_memory_share').on(t.id).where(sql`${t.memorySharePercent} is not null`),
  ],
)

/** From the fewest rights to the most; what each may is the table of `lib/identity/rights.ts`. */
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

/** Who may become a member, by a link that was mailed to them. */
export const invitations = pgTable(
  'invitations',
  {
    id: id(),
    workspaceId: belongsTo(() => workspaces.id),
    email: text().notNull(),
    role: text({ enum: MEMBER_ROLES }).notNull(),
    /** Of the link that was sent last. */
    tokenHash: text().notNull().unique(),
    /** The words to show for whoever invited. */
    invitedBy: text().notNull(),
    sentAt: instant().notNull(),
    expiresAt: instant().notNull(),
    createdAt: createdAt(),
  },
  // Accepted and withdrawn ones are deleted, so an address has one at most.
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
    /** The user whose rights it never exceeds; null where a version made it that did not note them. */
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

/** What was turned off when the owner of an address took their account from whoever had been in it. */
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
    /** The words to show for the actor: an email address or the key's name at that time. */
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
    workspaceId: belongsTo(() => workspaces.id),
    /** Whose answer it is: one account key must not be given the secrets that another made. */
    actorId: text().notNull(),
    key: text().notNull(),
    requestHash: text().notNull(),
    /** Null while the first request is in progress. */
    status: integer(),
    /** Encrypted: an answer may hold a secret that is shown once. */
    body: text(),
    createdAt: createdAt(),
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.actorId, t.key] }), index().on(t.createdAt)],
)
