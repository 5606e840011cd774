'use server'

import { issueDemoToken } from '#lib/dashboard/demo/issue-demo-token.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { type TokenOrRefusal, tokenOrRefusal } from '../actions/token-or-refusal.ts'
import { visitor } from '../session.ts'

/** Stands in for the customer's backend in the landing page demo. */
export async function takeDemoToken(): Promise<TokenOrRefusal> {
  const { address } = await visitor()
  return tokenOrRefusal(() => issueDemoToken(getRuntime(), address))
}
