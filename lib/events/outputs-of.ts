import { type SQL, sql } from 'drizzle-orm'
import type { EventKind } from '#drizzle/schema/pipes.ts'
import type { EventTopic } from '#drizzle/schema/webhooks.ts'

/** The fields of an output that determine which events it gets. */
export type EventOutput = {
  id: string
  url: string
  enabled: boolean
  events: EventKind[]
  statuses: string[]
  createdAtMs: number
}

const scopes = (pipeId: SQL, workspaceId: SQL) => sql`${pipeId}, (${workspaceId})::text`

/** The outputs in these scopes, as a column of type `EventOutput[]`. */
export const outputsIn = (scopes: SQL): SQL =>
  sql`(select coalesce(json_agg(${OUTPUT} order by o.id), '[]') from webhook_outputs o where o.scope in (${scopes}))`

/** The outputs of a Pipe and its workspace, as a column of type `EventOutput[]`. */
export const outputsOf = (pipeId: SQL, workspaceId: SQL): SQL => outputsIn(scopes(pipeId, workspaceId))

/** An `EventOutput` from a row `o` of `webhook_outputs`. */
const OUTPUT = sql`json_build_object('id', o.id, 'url', o.url, 'enabled', o.enabled, 'events', o.events,
    'statuses', o.statuses, 'createdAtMs', floor(extract(epoch from o.created_at) * 1000)::bigint)`

export const hasActiveOutput = (pipeId: SQL, workspaceId: SQL): SQL =>
  sql`exists (select from webhook_outputs o where o.scope in (${scopes(pipeId, workspaceId)}) and o.enabled)`

export const isToldOfCreation = (pipeId: SQL, workspaceId: SQL): SQL =>
  sql`exists (select from webhook_outputs o where o.scope in (${scopes(pipeId, workspaceId)}) and 'file.created' = any(o.events))`

/**
 * The topics that an output receives. If it receives final statuses, those of files with an object are always
 * included.
 */
export function topicsOf({ events, statuses }: Pick<EventOutput, 'events' | 'statuses'>): EventTopic[] {
  return events.flatMap((kind) =>
    kind === 'file.status_changed'
      ? (['transferred', 'partially_transferred', ...statuses] as EventTopic[])
      : [kind],
  )
}

export type Addressed = { to: EventOutput[]; isMissed: boolean }

/**
 * Decides which outputs get an event, and whether it is recorded as missed because an output is off or only subscribes
 * to other final statuses. A final status that no output gets is also recorded as missed, so that it can be sent to an
 * output that is created later.
 */
export function address(outputs: EventOutput[], kind: EventKind, topic: EventTopic): Addressed {
  const asking = outputs.filter(({ events }) => events.includes(kind))
  const to = asking.filter((output) => output.enabled && topicsOf(output).includes(topic))
  return { to, isMissed: to.length < asking.length || (kind === 'file.status_changed' && to.length === 0) }
}
