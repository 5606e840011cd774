import { isSluiceError } from '#lib/platform/kernel/errors.ts'

/** To catch with, where that a thing is not there is nothing unusual. */
export function orNothing(error: unknown): undefined {
  if (isSluiceError(error) && error.status === 404) return undefined
  throw error
}
