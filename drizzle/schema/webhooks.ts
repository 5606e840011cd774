import { sql } from 'drizzle-orm'
import { boolean, index, integer, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { workspaces } from './accounts.ts'
import { belongsTo, createdAt, id, instant } from './columns.ts'
import type { FileStatus } from './files.ts'
import { EVENT_KINDS, type EventKind } from './pipes.ts'

/**
 * The value by which outputs select events: the file's status for `file.status_changed`, otherwise the kind of event.
 */
export type EventTopic = FileStatus | EventKind

/**
 * Events, with the exact bytes that every attempt sends. Like deliveries, attempts and file timelines, they are
 * partitioned by the month of their ids: see `lib/platform/db/months.ts`.
 */
export const events = pgTable(
  'events',
  {
    id: id(),
    workspaceId: belongsTo(() => workspaces.id),
    /** The Pipe's id, or the workspace's id if the event does not concern a single Pipe. */
    pipeId: text().notNull(),
    /** Null unless the event belongs to a real file. */
    fileId: uuid(),
    kind: text({ enum: EVENT_KINDS }).notNull().default('file.status_changed'),
    /** The request that ended the file. */
    requestId: text(),
    traceparent: text(),
    test: boolean().notNull().default(false),
    /**
     * For an event about the end of a file, this is null until the event is sent to an output. The payload can be built
     * that late because an ended file no longer changes.
     */
    payload: text(),
    /**
     * The topic to which an output must be subscribed to get the event: a file status or a kind. Null once every output
     * has its delivery.
     */
    missedStatus: text().$type<EventTopic>(),
    /**
     * True once each output has its delivery. Nodes of the previous version do not record this: see `eventsToFanOut`.
     */
    fannedOut: boolean().notNull().default(false),
    createdAt: createdAt(),
  },
  (t) => [
    index().on(t.workspaceId, t.id),
    index().on(t.fileId),
    index('events_missed').on(t.pipeId, t.id).where(sql`${t.missedStatus} is not null`),
  ],
)

/** Events from nodes of the previous version, which only know about a Pipe's first output. A trigger adds them here. */
export const eventsToFanOut = pgTable('events_to_fan_out', { eventId: uuid().primaryKey() })

export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

export const ATTEMPT_TRIGGERS = ['auto', 'manual', 'test'] as const
export type AttemptTrigger = (typeof ATTEMPT_TRIGGERS)[number]

export const ATTEMPT_ERRORS = ['dns', 'connect', 'tls', 'timeout', 'blocked', 'status'] as const
export type AttemptError = (typeof ATTEMPT_ERRORS)[number]

/** The delivery of one event to one output. The row is authoritative; a queued job is just a timer. */
export const deliveries = pgTable(
  'deliveries',
  {
    id: id(),
    workspaceId: belongsTo(() => workspaces.id),
    /**
     * A trigger deletes a delivery with its event. There is no foreign key, because PostgreSQL would have to read both
     * tables to drop a month of events.
     */
    eventId: uuid().notNull(),
    pipeId: text().notNull(),
    fileId: uuid(),
    test: boolean().notNull().default(false),
    webhookOutputId: uuid().notNull(),
    url: text().notNull(),
    state: text({ enum: DELIVERY_STATES }).notNull().default('pending'),
    /** Attempts since the retry schedule started. A resend restarts the schedule. */
    attemptCount: integer().notNull().default(0),
    nextTrigger: text({ enum: ATTEMPT_TRIGGERS }).notNull().default('auto'),
    /**
     * When the next attempt is due. A claim moves this to its own expiry, so a delivery whose worker died becomes due
     * again.
     */
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
    // There is also an index by output, which `lib/webhooks/delivery/sweeps.ts` builds without blocking writers.
    index('deliveries_due').on(t.webhookOutputId, t.nextAttemptAt).where(sql`${t.state} = 'pending'`),
  ],
)

export const attempts = pgTable(
  'attempts',
  {
    id: id(),
    /** A trigger deletes an attempt with its delivery. */
    deliveryId: uuid().notNull(),
    trigger: text({ enum: ATTEMPT_TRIGGERS }).notNull(),
    at: instant().notNull(),
    durationMs: integer(),
    url: text().notNull(),
    /** The headers only: the request's body is the event's payload. */
    requestHeaders: jsonb().$type<Record<string, string>>().notNull(),
    status: integer(),
    responseHeaders: jsonb().$type<Record<string, string>>(),
    /** The first 16 KiB of the response body. */
    responseBody: text(),
    error: text({ enum: ATTEMPT_ERRORS }),
    /** A description of the error. For a delivered event, why the response was not read completely. */
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
