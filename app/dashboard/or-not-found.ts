import { notFound } from 'next/navigation'
import type { TurnedPage } from '#lib/platform/db/page.ts'
import { isSluiceError } from '#lib/platform/kernel/errors.ts'

/**
 * Returns the verb's result, or the 404 page. Also covers addresses that Sluice never generated, such as one with an
 * invalid cursor.
 */
export async function orNotFound<Thing>(thing: Promise<Thing>): Promise<Thing> {
  try {
    return await thing
  } catch (error) {
    if (isSluiceError(error) && (error.status === 404 || error.code === 'invalid_request')) notFound()
    throw error
  }
}

/** For `.catch()`: turns a 404 into undefined. */
export function orNothing(error: unknown): undefined {
  if (isSluiceError(error) && error.status === 404) return undefined
  throw error
}

/** Runs a filtered query. Users type filters by hand, so an invalid one returns an empty list and the reason. */
export async function orProblem<Item>(
  list: () => Promise<TurnedPage<Item>>,
): Promise<TurnedPage<Item> & { problem?: string }> {
  try {
    return await list()
  } catch (error) {
    if (!isSluiceError(error) || error.code !== 'invalid_request') throw error
    return { data: [], nextCursor: null, previousCursor: null, problem: error.message }
  }
}
