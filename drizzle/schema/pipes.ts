import { boolean, index, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { workspaces } from './accounts.ts'
import { bytes, createdAt, id, instant } from './columns.ts'
import { dataStores } from './data-stores.ts'

export const pipes = pgTable(
  'pipes',
  {
    id: text().primaryKey(),
    workspaceId: uuid()
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    sourceHttp: boolean().notNull().default(false),
    keyTemplate: text().notNull(),
    maxFileBytes: bytes(),
    /** Empty: any. */
    allowedTypes: text().array().notNull().default([]),
    allowedOrigins: text().array().notNull().default([]),
    uploadExpirySeconds: integer().notNull(),
    /** Tokens for it must name the person who uploads. */
    requireSubject: boolean().notNull().default(false),
    createdAt: createdAt(),
    updatedAt: instant().notNull().defaultNow(),
    deletedAt: instant(),
  },
  (t) => [index('pipes_by_workspace').on(t.workspaceId, t.createdAt, t.id)],
)

/** Where a Pipe's files go. The key allows several rows; every query assumes exactly one. */
export const pipeDestinations = pgTable(
  'pipe_destinations',
  {
    pipeId: text()
      .notNull()
      .references(() => pipes.id, { onDelete: 'cascade' }),
    dataStoreId: uuid()
      .notNull()
      .references(() => dataStores.id, { onDelete: 'cascade' }),
  },
  (t) => [primaryKey({ columns: [t.pipeId, t.dataStoreId] }), index().on(t.dataStoreId)],
)

export const webhookOutputs = pgTable(
  'webhook_outputs',
  {
    id: id(),
    workspaceId: uuid()
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    pipeId: text()
      .notNull()
      .unique()
      .references(() => pipes.id, { onDelete: 'cascade' }),
    enabled: boolean().notNull(),
    url: text().notNull(),
    /** Which file statuses send an event beside `transferred`, which always does. */
    statuses: text().array().notNull().default(['transferred']),
    secretEncrypted: text().notNull(),
    /** Signs beside the new one for 24 hours after a rotation. */
    previousSecretEncrypted: text(),
    previousSecretUntil: instant(),
    /** Why Sluice itself turned it off, for people. */
    turnedOffReason: text(),
    turnedOffAt: instant(),
    /** The first of an unbroken run of failed attempts. */
    failingSince: instant(),
    createdAt: createdAt(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (t) => [index().on(t.workspaceId)],
)
