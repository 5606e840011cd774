import type { TurnedPage } from '#lib/platform/db/page.ts'
import { isSluiceError } from '#lib/platform/kernel/errors.ts'

type ListOrProblem<Item> = TurnedPage<Item> & { problem?: string }

/** A list as the filters ask for it. Filters are typed by people: one that cannot be gets no file, and the reason. */
export async function listOrProblem<Item>(
  list: () => Promise<TurnedPage<Item>>,
): Promise<ListOrProblem<Item>> {
  try {
    return await list()
  } catch (error) {
    if (!isSluiceError(error) || error.code !== 'invalid_request') throw error
    return { data: [], nextCursor: null, previousCursor: null, problem: error.message }
  }
}
