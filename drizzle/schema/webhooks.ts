import { sql } from 'drizzle-orm'
import { boolean, index, integer, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { workspaces } from './accounts.ts'
import { belongsTo, createdAt, id, instant } from './columns.ts'
import type { FileStatus } from './files.ts'
import { EVENT_KINDS, type EventKind } from './pipes.ts'

/** What distinguishes events for those who ask for some of them: of the ends of files the status, of others the kind. */
export type EventTopic = FileStatus | EventKind

/**
 * What happened, in the exact bytes that every attempt sends. As its deliveries, their attempts and the timelines of files, it
 * is kept by months of its ids: `lib/platform/db/months.ts`.
 */
export const events = pgTable(
  'events',
  {
    id: id(),
    workspaceId: belongsTo(() => workspaces.id),
    /** Of what concerns no single Pipe: the id of its workspace. */
    pipeId: text().notNull(),
    /** Null unless it is a real file's. */
    fileId: uuid(),
    kind: text({ enum: EVENT_KINDS }).notNull().default('file.status_changed'),
    /** The request that ended the file. */
    requestId: text(),
    traceparent: text(),
    test: boolean().notNull().default(false),
    /** Null while nobody is sent the end of a file: it no longer changes, so the bytes are made when they are sent. */
    payload: text(),
    /** What an output would have to ask for: a status of a file or a kind. Null once every output has its delivery. */
    missedStatus: text().$type<EventTopic>(),
    /** Each output has its delivery. Nodes of the previous version do not say so: see `eventsToFanOut`. */
    fannedOut: boolean().notNull().default(false),
    createdAt: createdAt(),
  },
  (t) => [
    index().on(t.workspaceId, t.id),
    index().on(t.fileId),
    index('events_missed').on(t.pipeId, t.id).where(sql`${t.missedStatus} is not null`),
  ],
)

/** Events of nodes of the previous version, which know the first output of a Pipe alone. A trigger puts them here. */
export const eventsToFanOut = pgTable('events_to_fan_out', { eventId: uuid().primaryKey() })

export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

export const ATTEMPT_TRIGGERS = ['auto', 'manual', 'test'] as const
export type AttemptTrigger = (typeof ATTEMPT_TRIGGERS)[number]

export const ATTEMPT_ERRORS = ['dns', 'connect', 'tls', 'timeout', 'blocked', 'status'] as const
export type AttemptError = (typeof ATTEMPT_ERRORS)[number]

/** One event to one output. The row is the truth; a queued job is only its alarm clock. */
export const deliveries = pgTable(
  'deliveries',
  {
    id: id(),
    workspaceId: belongsTo(() => workspaces.id),
    /** Deleted with its event, by a trigger: a month of events that others refer to could not be dropped unread. */
    eventId: uuid().notNull(),
    pipeId: text().notNull(),
    fileId: uuid(),
    test: boolean().notNull().default(false),
    webhookOutputId: uuid().notNull(),
    url: text().notNull(),
    state: text({ enum: DELIVERY_STATES }).notNull().default('pending'),
    /** Attempts made since the schedule began; a resend begins it again. */
    attemptCount: integer().notNull().default(0),
    nextTrigger: text({ enum: ATTEMPT_TRIGGERS }).notNull().default('auto'),
    /** Due from here on. A claim moves it to its own end, so one whose maker died comes up again. */
    nextAttemptAt: instant(),
    /** While an attempt is in progress: which one, and until when nobody else may make one. */
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
    // By output, too: `lib/webhooks/delivery/sweeps.ts` builds that beside those who write.
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
    /** In words; of a delivered event, why its answer was not read to the end. */
    errorDetail: text(),
  },
  (t) => [index().on(t.deliveryId, t.id)],
)

/** The last webhooks that a workspace's own inbox received. */
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
