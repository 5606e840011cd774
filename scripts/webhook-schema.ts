import { writeFileSync } from 'node:fs'
import { z } from 'zod'
import { fileEventSchema } from '../lib/events/file-event-schema.ts'

export const SCHEMA_FILE = 'public/schemas/file.status_changed.json'

/** The published JSON Schema of a webhook's body. */
export function webhookSchema(): string {
  const schema = z.toJSONSchema(fileEventSchema, { io: 'input' })
  return `${JSON.stringify(schema, null, 2)}\n`
}

if (import.meta.main) writeFileSync(SCHEMA_FILE, webhookSchema())
