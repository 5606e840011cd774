'use server'

import { getRuntime } from '#lib/runtime.ts'
import { expireToken } from '#lib/tokens/expire-token.ts'
import { issueTrialToken } from '#lib/tokens/issue-trial-token.ts'
import { revokeToken } from '#lib/tokens/revoke-token.ts'
import { currentActor } from '../session.ts'
import { type TokenOrRefusal, tokenOrRefusal } from './token-or-refusal.ts'

/** The part of the customer's backend, for the uploader on the dashboard's own page. */
export async function takeTrialToken(pipeId: string): Promise<TokenOrRefusal> {
  const actor = await currentActor()
  return tokenOrRefusal(() =>
    issueTrialToken(getRuntime(), actor, String(pipeId), { subject: `dashboard:${actor.id}` }),
  )
}

export async function endTrialToken(id: string, how: 'expire' | 'revoke'): Promise<void> {
  const actor = await currentActor()
  if (how === 'revoke') await revokeToken(getRuntime(), actor, String(id))
  else await expireToken(getRuntime(), actor, String(id))
}
