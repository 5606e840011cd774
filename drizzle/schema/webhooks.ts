import { sql } from 'drizzle-orm'
import { boolean, index, integer, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { workspaces } from './accounts.ts'
import { belongsTo, createdAt, id, instant } from './columns.ts'
import type { FileStatus } from './files.ts'
import { EVENT_KINDS, type EventKind } from './pipes.ts'

/**
 * What distinguishes events for outputs that only want some of them: the status for the ends of files, otherwise the
 * kind.
 */
export type EventTopic = FileStatus | EventKind

/**
 * What happened, in the exact bytes that every attempt sends. Like its deliveries, their attempts and file timelines,
 * it is stored by month of its id: `lib/platform/db/months.ts`.
 */
export const events = pgTable(
  'events',
  {
    id: id(),
    workspaceId: belongsTo(() => workspaces.id),
    /** If it does not concern a single Pipe: the workspace's id. */
    pipeId: text().notNull(),
    /** Null unless it belongs to a real file. */
    fileId: uuid(),
    kind: text({ enum: EVENT_KINDS }).notNull().default('file.status_changed'),
    /** The request that ended the file. */
    requestId: text(),
    traceparent: text(),
    test: boolean().notNull().default(false),
    /** Null while a file's end is sent to nobody: it no longer changes, so the bytes are built when they are sent. */
    payload: text(),
    /**
     * The topic an output must be subscribed to: a file status or a kind. Null once every output has its
     * delivery.
     */
    missedStatus: text().$type<EventTopic>(),
    /** Each output has its delivery. Nodes of the previous version do not record this: see `eventsToFanOut`. */
    fannedOut: boolean().notNull().default(false),
    createdAt: createdAt(),
  },
  (t) => [
    index().on(t.workspaceId, t.id),
    index().on(t.fileId),
    index('events_missed').on(t.pipeId, t.id).where(sql`${t.missedStatus} is not null`),
  ],
)

/** Events from nodes of the previous version, which only know a Pipe's first output. A trigger adds them here. */
export const eventsToFanOut = pgTable('events_to_fan_out', { eventId: uuid().primaryKey() })

export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

export const ATTEMPT_TRIGGERS = ['auto', 'manual', 'test'] as const
export type AttemptTrigger = (typeof ATTEMPT_TRIGGERS)[number]

export const ATTEMPT_ERRORS = ['dns', 'connect', 'tls', 'timeout', 'blocked', 'status'] as const
export type AttemptError = (typeof ATTEMPT_ERRORS)[number]

/** One event to one output. The row is authoritative; a queued job is just a timer. */
export const deliveries = pgTable(
  'deliveries',
  {
    id: id(),
    workspaceId: belongsTo(() => workspaces.id),
    /**
     * Deleted with its event, by a trigger: a month of events with references could not be dropped without being
     * read.
     */
    eventId: uuid().notNull(),
    pipeId: text().notNull(),
    fileId: uuid(),
    test: boolean().notNull().default(false),
    webhookOutputId: uuid().notNull(),
    url: text().notNull(),
    state: text({ enum: DELIVERY_STATES }).notNull().default('pending'),
    /** Attempts since the schedule started; a resend restarts it. */
    attemptCount: integer().notNull().default(0),
    nextTrigger: text({ enum: ATTEMPT_TRIGGERS }).notNull().default('auto'),
    /** When it is due. A claim moves this to its own expiry, so a delivery whose worker died becomes due again. */
    nextAttemptAt: instant(),
    /**
     * The attempt in progress, if any, and when its claim expires. Until then, no other worker may start one.
     */
    claimedBy: uuid(),
    claimedUntil: instant(),
    lastStatus: integer(),
    lastError: text(),
    deliveredAt: instant(),
    createdAt: createdAt(),
  },
  (t) => [
    index('deliveries_by_workspace').on(t.workspaceId, t.id),
    index('deliveries_by_workspace_state').on(t.workspaceId, t.state, t.id),
    index('deliveries_by_pipe').on(t.pipeId, t.id),
    index('deliveries_by_pipe_state').on(t.pipeId, t.state, t.id),
    index('deliveries_by_file').on(t.fileId),
    index('deliveries_by_event').on(t.eventId),
    // Also by output: `lib/webhooks/delivery/sweeps.ts` builds that index without blocking writers.
    index('deliveries_due').on(t.webhookOutputId, t.nextAttemptAt).where(sql`${t.state} = 'pending'`),
  ],
)

export const attempts = pgTable(
  'attempts',
  {
    id: id(),
    /** Deleted with its delivery, by a trigger. */
    deliveryId: uuid().notNull(),
    trigger: text({ enum: ATTEMPT_TRIGGERS }).notNull(),
    at: instant().notNull(),
    durationMs: integer(),
    url: text().notNull(),
    /** The request's body is the event's payload. */
    requestHeaders: jsonb().$type<Record<string, string>>().notNull(),
    status: integer(),
    responseHeaders: jsonb().$type<Record<string, string>>(),
    /** The first 16 KiB. */
    responseBody: text(),
    error: text({ enum: ATTEMPT_ERRORS }),
    /** A description; for a delivered event, why its response was not read completely. */
    errorDetail: text(),
  },
  (t) => [index().on(t.deliveryId, t.id)],
)

/** The latest webhooks received by a workspace's own inbox. */
export const inboxMessages = pgTable(
  'inbox_messages',
  {
    id: id(),
    workspaceId: belongsTo(() => workspaces.id),
    webhookId: text(),
    headers: jsonb().$type<Record<string, string>>().notNull(),
    body: text().notNull(),
    createdAt: createdAt(),
  },
  (t) => [index().on(t.workspaceId, t.id)],
)
