import { notFound } from 'next/navigation'
import { isSluiceError } from '#lib/kernel/errors.ts'

/** What a verb shows, or the 404 page. */
export async function orNotFound<Thing>(thing: Promise<Thing>): Promise<Thing> {
  try {
    return await thing
  } catch (error) {
    if (isSluiceError(error) && error.status === 404) notFound()
    throw error
  }
}
