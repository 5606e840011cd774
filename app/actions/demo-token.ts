'use server'

import { issueDemoToken } from '#lib/demo/issue-demo-token.ts'
import { getRuntime } from '#lib/runtime.ts'
import type { TrialToken } from '#lib/tokens/issue-trial-token.ts'
import { visitor } from '../session.ts'

/** The part of the customer's backend, for the demo on the landing page. */
export async function takeDemoToken(): Promise<TrialToken> {
  return issueDemoToken(getRuntime(), (await visitor()).address)
}
