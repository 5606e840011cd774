import { writeFileSync } from 'node:fs'
import { z } from 'zod'
import { HOOKS } from '#drizzle/schema/hooks.ts'
import { EVENT_KINDS } from '#drizzle/schema/pipes.ts'
import { eventSchema } from '../lib/events/event-schemas.ts'
import { questionSchema } from '../lib/hooks/question-schemas.ts'

export const FOLDER = 'public/schemas'

const published = (name: string, schema: z.ZodType) => ({
  file: `${name}.json`,
  text: `${JSON.stringify(z.toJSONSchema(schema, { io: 'input' }), null, 2)}\n`,
})

/** The JSON Schemas of the requests that Sluice sends: events and the questions of decision hooks. */
export const PUBLISHED_SCHEMAS = [
  ...EVENT_KINDS.map((kind) => published(kind, eventSchema(kind))),
  ...HOOKS.map((hook) => published(hook, questionSchema(hook))),
]

if (import.meta.main) for (const { file, text } of PUBLISHED_SCHEMAS) writeFileSync(`${FOLDER}/${file}`, text)
