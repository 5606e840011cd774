import { z } from 'zod'
import { EVENT_KINDS } from '#drizzle/schema/pipes.ts'
import { findPipe } from '../../workspace/pipes/read-pipes.ts'
import { operationsOf } from '../operation.ts'
import { streamEvents } from '../stream-events.ts'

const { operation } = operationsOf('Events')

const kindsField = z
  .string()
  .default('file.status_changed')
  .transform((text) => text.split(',').map((kind) => kind.trim()))
  .pipe(z.array(z.enum(EVENT_KINDS, { message: `may only contain ${EVENT_KINDS.join(', ')}` })))

export const eventOperations = [
  operation('GET /events/stream', {
    id: 'streamEvents',
    right: 'see',
    summary:
      'Follow events as server-sent events, each with the same body as a webhook. With Last-Event-ID, you also get the events since that one, going back up to an hour; an event may be sent twice. To receive other kinds than `file.status_changed`, list them in `events`, separated by commas. `file.created` events only exist if a webhook output subscribes to them.',
    query: z.strictObject({ pipeId: z.string().optional(), events: kindsField }),
    stream: true,
    answer: z.string(),
    problems: ['pipe_not_found', 'rate_limited'],
    run: async ({ runtime, who, query, asked }): Promise<never> => {
      if (query.pipeId !== undefined) await findPipe(runtime.db, who, query.pipeId)
      const lastEventId = asked.headers.get('last-event-id') ?? undefined
      const signal = asked.signal ?? new AbortController().signal
      return streamEvents(runtime, who, { ...query, kinds: query.events, lastEventId, signal }) as never
    },
  }),
]
