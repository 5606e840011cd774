import { z } from 'zod'
import { type FieldError, invalidRequest, MOST_FAULTS } from './errors.ts'

/** Validates input from a person or program. Errors name the field, even if it is unknown. */
export function parseInput<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const fault = generalFault(value)
  if (fault) throw invalidRequest([fault])
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw invalidRequest(result.error.issues.slice(0, MOST_FAULTS).flatMap(fieldErrors))
}

/** The maximum number of entries in any list or object. */
export const MOST_ENTRIES = 1000

/**
 * The first fault that no schema needs to know about: text that PostgreSQL does not accept, because it contains NUL or
 * a lone surrogate, or a list or object with too many entries. These are counted before any of them is examined, as a
 * schema would examine all of them first.
 */
export function generalFault(value: unknown): FieldError | undefined {
  const left: { path: string; value: unknown }[] = [{ path: '', value }]
  for (let at = left.pop(); at; at = left.pop()) {
    const field = at.path || 'body'
    if (typeof at.value === 'string' && !isText(at.value)) return { field, message: NO_TEXT }
    if (typeof at.value !== 'object' || at.value === null) continue
    const names = Object.keys(at.value)
    if (names.length > MOST_ENTRIES) return { field, message: `must have at most ${MOST_ENTRIES} entries` }
    for (const name of names) {
      if (!isText(name)) return { field, message: NO_TEXT }
      const inner = (at.value as Record<string, unknown>)[name]
      left.push({ path: at.path ? `${at.path}.${name}` : name, value: inner })
    }
  }
  return undefined
}

const NO_TEXT = 'must be Unicode text without NUL'
/** True for text that PostgreSQL accepts. */
export const isText = (text: string) => text.isWellFormed() && !text.includes('\0')

type Issue = z.core.$ZodIssue

function fieldErrors(issue: Issue): FieldError[] {
  const path = issue.path.map(String)
  if (issue.code === 'unrecognized_keys') {
    const keys = issue.keys.slice(0, MOST_FAULTS)
    return keys.map((key) => ({ field: fieldName([...path, key]), message: 'is not a known field' }))
  }
  return [{ field: fieldName(path) || 'body', message: words(issue) }]
}

/** Shortened, since it contains names from the input. */
const fieldName = (path: string[]) => path.join('.').slice(0, 200).toWellFormed()

function words(issue: Issue): string {
  if (issue.code === 'invalid_key' && issue.issues[0]) return words(issue.issues[0])
  if (/received undefined$/.test(issue.message)) return 'is required'
  const expected = issue.message.match(/^Invalid input: expected (.+), received/)?.[1]
  if (expected) return `must be ${/^[aeiou]/.test(expected) ? 'an' : 'a'} ${expected}`
  const options = issue.message.match(/^Invalid (?:input|option): expected (?:one of )?(".+")$/)?.[1]
  if (options)
    return options.includes('|') ? `must be one of ${options.replaceAll('|', ', ')}` : `must be ${options}`
  return issue.message.replace(/^(Invalid|Too)/, (word) => `is ${word.toLowerCase()}`)
}

/** Converts a row to a response: only the fields in the response schema, with times as strings. */
export function toAnswer<Schema extends z.ZodObject>(
  schema: Schema,
  row: Answerable<z.output<Schema>>,
): z.output<Schema> {
  const given = row as Record<string, unknown>
  const fields = Object.keys(schema.shape).map((name) => [name, given[name]])
  const written = fields.map(([name, value]) => [name, value instanceof Date ? value.toISOString() : value])
  return Object.fromEntries(written) as z.output<Schema>
}

type Answerable<Answer> = {
  [Name in keyof Answer]: string extends Answer[Name] ? Answer[Name] | Date : Answer[Name]
}

/** True for text that PostgreSQL and HTTP headers accept: only complete characters, and no control characters. */
export const isPlainText = (text: string) => text.isWellFormed() && !/\p{Cc}/u.test(text)

/** A name chosen by a customer. */
export const nameField = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(100, 'must have at most 100 characters')
  .refine(isPlainText, 'must not contain control characters')

const MAX_BYTES = 2 ** 46
const wholeBytes = z.int('must be a whole number').max(MAX_BYTES, `must be at most ${MAX_BYTES}`)
/** A limit in bytes, or what is left of it. */
export const bytesField = wholeBytes.min(1, 'must be at least 1')
/** The length of a file, which may be empty. */
export const lengthField = wholeBytes.min(0, 'must be at least 0')

/**
 * Times before 1970 are treated as 1970: nothing is older, and neither ids nor PostgreSQL can represent every earlier
 * year.
 */
export const timeField = z.iso
  .datetime({ offset: true, message: 'must be a time such as 2026-11-05T10:00:00Z' })
  .transform((text) => new Date(Math.max(0, Date.parse(text))))
