import { isSluiceError } from '#lib/platform/kernel/errors.ts'
import type { TrialToken } from '#lib/workspace/tokens/issue-trial-token.ts'

export type TokenOrRefusal = TrialToken | { refused: string; status: number }

/** An error that is thrown in an action reaches the browser without its words, so a refusal is an answer. */
export async function tokenOrRefusal(issue: () => Promise<TrialToken>): Promise<TokenOrRefusal> {
  try {
    return await issue()
  } catch (error) {
    if (isSluiceError(error) && error.status < 500) return { refused: error.message, status: error.status }
    throw error
  }
}
