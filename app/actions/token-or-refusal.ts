import { isSluiceError } from '#lib/platform/kernel/errors.ts'
import type { TrialToken } from '#lib/workspace/tokens/issue-trial-token.ts'

export type TokenOrRefusal = TrialToken | { refused: string; status: number }

/** Errors thrown in an action reach the browser without their message, so refusals are returned. */
export async function tokenOrRefusal(issue: () => Promise<TrialToken>): Promise<TokenOrRefusal> {
  try {
    return await issue()
  } catch (error) {
    if (isSluiceError(error) && error.status < 500) return { refused: error.message, status: error.status }
    throw error
  }
}
