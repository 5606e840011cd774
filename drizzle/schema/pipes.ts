import { sql } from 'drizzle-orm'
import {
  boolean,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  smallint,
  text,
  uuid,
} from 'drizzle-orm/pg-core'
import { workspaces } from './accounts.ts'
import { belongsTo, bytes, createdAt, id, instant } from './columns.ts'
import { dataStores } from './data-stores.ts'

/** An object's settings in addition to its bytes and type. Metadata and tag values may contain placeholders. */
export type ObjectSettings = {
  metadata?: Record<string, string>
  cacheControl?: string
  contentDisposition?: 'inline' | 'attachment'
  storageClass?: string
  tags?: Record<string, string>
  encryption?: { type: 'SSE-S3' } | { type: 'SSE-KMS'; keyId: string }
}

export const OBJECT_SETTINGS = [
  'metadata',
  'cacheControl',
  'contentDisposition',
  'storageClass',
  'tags',
  'encryption',
] as const satisfies (keyof ObjectSettings)[]

/** A Pipe's object settings, with a list of those that a token may set. */
export type PipeObject = ObjectSettings & { tokensMaySet?: (keyof ObjectSettings)[] }

export const pipes = pgTable(
  'pipes',
  {
    id: text().primaryKey(),
    workspaceId: belongsTo(() => workspaces.id),
    name: text().notNull(),
    sourceHttp: boolean().notNull().default(false),
    sourceUrl: boolean().notNull().default(false),
    sourceSftp: boolean().notNull().default(false),
    sourceFtps: boolean().notNull().default(false),
    /** FTP without encryption. */
    sourceFtp: boolean().notNull().default(false),
    keyTemplate: text().notNull(),
    maxFileBytes: bytes(),
    /** The allowed media types. Empty if every type is allowed. */
    allowedTypes: text().array().notNull().default([]),
    allowedOrigins: text().array().notNull().default([]),
    uploadExpirySeconds: integer().notNull(),
    /** True if the Pipe's tokens must have a subject. */
    requireSubject: boolean().notNull().default(false),
    object: jsonb().$type<PipeObject>(),
    /** True if a file's first bytes must match its declared type. */
    verifyContent: boolean().notNull().default(false),
    /** True if the SHA-256 of each file is computed. */
    computeSha256: boolean().notNull().default(false),
    createdAt: createdAt(),
    updatedAt: instant().notNull().defaultNow(),
    deletedAt: instant(),
  },
  (t) => [index('pipes_by_workspace').on(t.workspaceId, t.createdAt, t.id)],
)

/** The first destination of each Pipe. The others are in `further_pipe_destinations`. */
export const pipeDestinations = pgTable(
  'pipe_destinations',
  {
    pipeId: text()
      .notNull()
      .references(() => pipes.id, { onDelete: 'cascade' }),
    dataStoreId: belongsTo(() => dataStores.id),
    /** False for a best-effort destination. */
    required: boolean().notNull().default(true),
  },
  (t) => [primaryKey({ columns: [t.pipeId, t.dataStoreId] }), index().on(t.dataStoreId)],
)

/** A Pipe's destinations, starting with the second. */
export const furtherPipeDestinations = pgTable(
  'further_pipe_destinations',
  {
    pipeId: text()
      .notNull()
      .references(() => pipes.id, { onDelete: 'cascade' }),
    dataStoreId: uuid().notNull(),
    position: smallint().notNull(),
    required: boolean().notNull(),
  },
  (t) => [primaryKey({ columns: [t.pipeId, t.position] }), index().on(t.dataStoreId)],
)

/** The kinds of events. Receivers only get events of the first kind, unless they subscribe to others. */
export const EVENT_KINDS = [
  'file.status_changed',
  'file.created',
  'batch.completed',
  'data_store.failing',
  'data_store.recovered',
  'output.turned_off',
  'usage.threshold',
] as const
export type EventKind = (typeof EVENT_KINDS)[number]

export const webhookOutputs = pgTable(
  'webhook_outputs',
  {
    id: id(),
    workspaceId: belongsTo(() => workspaces.id),
    /**
     * The Pipe, if this is its first output. Nodes of the previous version assume that a Pipe has a single output, and
     * would write an event for each output they find. So further outputs store their Pipe in `furtherPipeId` until no
     * such node is left. That column needs no foreign key, because a Pipe's row is only deleted with its workspace.
     */
    pipeId: text()
      .unique()
      .references(() => pipes.id, { onDelete: 'cascade' }),
    furtherPipeId: text(),
    /** Whose events the output gets: those of one Pipe, or of all Pipes in its workspace. */
    scope: text().notNull().generatedAlwaysAs(sql`coalesce(pipe_id, further_pipe_id, workspace_id::text)`),
    name: text().notNull().default('Webhook'),
    enabled: boolean().notNull(),
    url: text().notNull(),
    /** The kinds of events that the output gets. */
    events: text({ enum: EVENT_KINDS }).array().notNull().default(['file.status_changed']),
    /** The file statuses that cause an event in addition to `transferred`, which always causes one. */
    statuses: text().array().notNull().default(['transferred']),
    secretEncrypted: text().notNull(),
    /** The request headers that the receiver requires, as a JSON object. */
    headersEncrypted: text(),
    headerNames: text().array().notNull().default([]),
    /** Events before this time do not count as missed. */
    missedAfter: instant(),
    /** The previous secret, which also signs for 24 hours after a rotation. */
    previousSecretEncrypted: text(),
    previousSecretUntil: instant(),
    /** Why Sluice turned the output off, for display. */
    turnedOffReason: text(),
    turnedOffAt: instant(),
    /** The time of the first failed attempt in the current series. */
    failingSince: instant(),
    createdAt: createdAt(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (t) => [index().on(t.workspaceId), index().on(t.scope)],
)
