'use server'

import { getRuntime } from '#lib/platform/runtime.ts'
import { expireToken, revokeToken } from '#lib/workspace/tokens/given-tokens.ts'
import { issueTrialToken } from '#lib/workspace/tokens/issue-trial-token.ts'
import { currentActor } from '../session.ts'
import { answer } from './act.ts'
import { textArgument } from './form-fields.ts'
import { type TokenOrRefusal, tokenOrRefusal } from './token-or-refusal.ts'

/** The part of the customer's backend, for the uploader on the dashboard's own page. */
export async function takeTrialToken(pipeId: string): Promise<TokenOrRefusal> {
  const actor = await currentActor()
  const subject = `dashboard:${actor.id}`
  return tokenOrRefusal(() => issueTrialToken(getRuntime(), actor, textArgument(pipeId), { subject }))
}

export async function endTrialToken(id: string, how: 'expire' | 'revoke') {
  const actor = await currentActor()
  return answer(async () => {
    if (how === 'revoke') await revokeToken(getRuntime(), actor, textArgument(id))
    else await expireToken(getRuntime(), actor, textArgument(id))
    return undefined
  })
}
