import { writeFileSync } from 'node:fs'
import { z } from 'zod'
import { EVENT_KINDS, type EventKind } from '#drizzle/schema/pipes.ts'
import { eventSchema } from '../lib/events/event-schemas.ts'

export const schemaFile = (kind: EventKind) => `public/schemas/${kind}.json`

/** The published JSON Schema of a webhook's body. */
export function webhookSchema(kind: EventKind): string {
  const schema = z.toJSONSchema(eventSchema(kind), { io: 'input' })
  return `${JSON.stringify(schema, null, 2)}\n`
}

if (import.meta.main) for (const kind of EVENT_KINDS) writeFileSync(schemaFile(kind), webhookSchema(kind))
