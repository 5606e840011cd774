'use server'

import { issueDemoToken } from '#lib/dashboard/demo/issue-demo-token.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { visitor } from '../session.ts'
import { type TokenOrRefusal, tokenOrRefusal } from './token-or-refusal.ts'

/** The part of the customer's backend, for the demo on the landing page. */
export async function takeDemoToken(): Promise<TokenOrRefusal> {
  const { address } = await visitor()
  return tokenOrRefusal(() => issueDemoToken(getRuntime(), address))
}
