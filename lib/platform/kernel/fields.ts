import { z } from 'zod'

/** Text that every database and header can hold: whole characters, none of them a control character. */
export const isPlainText = (text: string) => text.isWellFormed() && !/\p{Cc}/u.test(text)

/** A name that a customer chooses. */
export const nameField = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(100, 'must have at most 100 characters')
  .refine(isPlainText, 'must not contain control characters')

export const bytesField = z
  .int('must be a whole number')
  .min(1, 'must be at least 1')
  .max(2 ** 46, 'must be at most 70368744177664')

/** Nothing is older than 1970, and neither an id nor PostgreSQL can name every year before it. */
export const timeField = z.iso
  .datetime({ offset: true, message: 'must be a time such as 2026-11-05T10:00:00Z' })
  .transform((text) => new Date(Math.max(0, Date.parse(text))))
