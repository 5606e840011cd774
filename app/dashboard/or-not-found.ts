import { notFound } from 'next/navigation'
import { isSluiceError } from '#lib/platform/kernel/errors.ts'

/** What a verb shows, or the 404 page: also for an address that nobody here has written, as one with a wrong cursor. */
export async function orNotFound<Thing>(thing: Promise<Thing>): Promise<Thing> {
  try {
    return await thing
  } catch (error) {
    if (isSluiceError(error) && (error.status === 404 || error.code === 'invalid_request')) notFound()
    throw error
  }
}
