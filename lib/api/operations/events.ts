import { z } from 'zod'
import { findPipe } from '../../workspace/pipes/read-pipes.ts'
import { operation } from '../operation.ts'
import { streamEvents } from '../stream-events.ts'

export const eventOperations = [
  operation({
    id: 'streamEvents',
    right: 'see',
    method: 'GET',
    path: '/events/stream',
    tag: 'Events',
    summary:
      'Follow events as server-sent events, each with the body of a webhook. With Last-Event-ID you are told what came since, for an hour; an event may come twice.',
    query: z.strictObject({ pipeId: z.string().optional() }),
    status: 200,
    stream: true,
    answer: z.string(),
    problems: ['pipe_not_found', 'rate_limited'],
    run: async ({ runtime, who, query, asked }): Promise<never> => {
      if (query.pipeId !== undefined) await findPipe(runtime.db, who, query.pipeId)
      const lastEventId = asked.headers.get('last-event-id') ?? undefined
      const signal = asked.signal ?? new AbortController().signal
      return streamEvents(runtime, who, { pipeId: query.pipeId, lastEventId, signal }) as never
    },
  }),
]
