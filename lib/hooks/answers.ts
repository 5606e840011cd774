import { z } from 'zod'
import { generalFault } from '../platform/kernel/parse-input.ts'
import { keyPrefixField } from '../workspace/pipes/key-template.ts'
import { tokenObjectField } from '../workspace/pipes/object-settings.ts'
import { metadataField } from '../workspace/tokens/token.ts'

/** The answers that receivers may give. Any other response is not an answer, and the server log says why. */

const reason = z.string().trim().min(1).max(500).optional()

/** Common clients retry after these statuses, so neither can report a decision. */
const REPEATED = new Set([409, 423])
const status = z
  .int()
  .min(400)
  .max(499)
  .refine((code) => !REPEATED.has(code), 'must not be 409 or 423, after which clients retry')
  .optional()

export const beforeCreateAnswer = z.strictObject({
  allow: z.boolean(),
  reason: reason.describe('The reason for a refusal, shown to the uploader'),
  status: status.describe('The status of the refusal, 403 by default'),
  filename: z.string().min(1).max(1024).optional(),
  keyPrefix: keyPrefixField.optional(),
  metadata: metadataField.optional(),
  object: tokenObjectField.optional(),
})
export type BeforeCreateAnswer = z.output<typeof beforeCreateAnswer>

export const MAX_RESULT_BYTES = 4096

const result = z
  .unknown()
  .refine(
    (value) => bytesAsJson(value) <= MAX_RESULT_BYTES,
    `must have at most ${MAX_RESULT_BYTES} bytes as JSON`,
  )
  .optional()

/** Infinity if the value is nested too deeply for `JSON.stringify`, although `JSON.parse` has no such limit. */
function bytesAsJson(value: unknown): number {
  try {
    return Buffer.byteLength(JSON.stringify(value))
  } catch {
    return Infinity
  }
}

/** The decision in an API call, which can allow or reject a file like an answer, but not defer it. */
export const decisionInput = z
  .strictObject({
    allow: z.boolean(),
    reason: reason.describe('The reason for a refusal, shown to the uploader'),
    result: result.describe('Returned to the uploader of an allowed file'),
  })
  .meta({ example: { allow: true, result: { documentId: 'doc_42' } } })
export type DecisionInput = z.output<typeof decisionInput>

export const beforeCompleteAnswer = z.union([decisionInput, z.strictObject({ defer: z.literal(true) })])
export type BeforeCompleteAnswer = z.output<typeof beforeCompleteAnswer>

/** Returns the answer in a response, or a string that says what is wrong with the response. */
export function readAnswer<Answer>(schema: z.ZodType<Answer>, body: string): Answer | string {
  let json: unknown
  try {
    json = JSON.parse(body)
  } catch {
    return 'The response is not JSON.'
  }
  // An answer with text that the database rejects could not be stored, so the question would be asked again and again.
  const fault = generalFault(json)
  if (fault) return `The response is invalid: ${fault.field} ${fault.message}.`
  const parsed = schema.safeParse(json)
  if (parsed.success) return parsed.data
  const [first] = parsed.error.issues
  // For a union, the error of the first member is the most informative.
  const issue = first!.code === 'invalid_union' ? (first!.errors[0]?.[0] ?? first!) : first!
  return `The response is invalid: ${[issue.path.join('.'), issue.message].filter(Boolean).join(' ')}.`
}
