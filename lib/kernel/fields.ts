import { z } from 'zod'

/** A name that a customer chooses. */
export const nameField = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(100, 'must have at most 100 characters')

export const bytesField = z
  .int('must be a whole number')
  .min(1, 'must be at least 1')
  .max(2 ** 46, 'must be at most 70368744177664')
