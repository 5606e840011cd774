import { z } from 'zod'
import { HOOKS, type pipeHooks, WITHOUT_ANSWER } from '#drizzle/schema/index.ts'
import type { Place } from '../platform/vault.ts'

export { HOOKS }

/** A decision hook's settings. Omitted settings have defaults. */
export const hookInput = z.strictObject({
  url: z.string().trim().max(2048, 'must have at most 2048 characters'),
  enabled: z.boolean().default(true),
  timeoutSeconds: z
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(30, 'must be at most 30')
    .default(5)
    .meta({ description: "The time limit for the receiver's response to each of three attempts." }),
  withoutAnswer: z
    .enum(WITHOUT_ANSWER, { message: `must be ${WITHOUT_ANSWER.join(' or ')}` })
    .default('refuse')
    .meta({ description: 'What happens if no attempt gets a response.' }),
})
export type HookInput = z.output<typeof hookInput>

export const hookAnswer = z.strictObject({
  hook: z.enum(HOOKS),
  url: z.string(),
  enabled: z.boolean(),
  timeoutSeconds: z.int(),
  withoutAnswer: z.enum(WITHOUT_ANSWER),
  /** Until this time, requests are also signed with the secret from before the last rotation. */
  previousSecretUntil: z.iso.datetime().nullable(),
  /** When the hook stopped answering; null if it answers. `fault` is the latest error. */
  failingSince: z.iso.datetime().nullable(),
  fault: z.string().nullable(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
})
export type HookAnswer = z.output<typeof hookAnswer>

export type HookRow = typeof pipeHooks.$inferSelect

export function toHook(row: HookRow): HookAnswer {
  return {
    hook: row.hook,
    url: row.url,
    enabled: row.enabled,
    timeoutSeconds: row.timeoutSeconds,
    withoutAnswer: row.withoutAnswer,
    previousSecretUntil: row.previousSecretUntil?.toISOString() ?? null,
    failingSince: row.failingSince?.toISOString() ?? null,
    fault: row.fault,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  }
}

/** The columns that a hook's two sealed secrets are bound to. */
const placeIn =
  (column: string) =>
  (id: string): Place => ({ column: `pipe_hooks.${column}`, id, row: `pipe_hook:${id}` })
export const hookSecretPlace = placeIn('secret_encrypted')
export const previousHookSecretPlace = placeIn('previous_secret_encrypted')
