'use server'

import { answer } from '#app/actions/act.ts'
import { textArgument } from '#app/actions/form-fields.ts'
import { type TokenOrRefusal, tokenOrRefusal } from '#app/actions/token-or-refusal.ts'
import { currentActor, enteredSession } from '#app/session.ts'
import { trialResult } from '#lib/dashboard/files/show-file.ts'
import { assertMay } from '#lib/identity/rights.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { expireToken, revokeToken } from '#lib/workspace/tokens/given-tokens.ts'
import { issueTrialToken } from '#lib/workspace/tokens/issue-trial-token.ts'

/** Stands in for the customer's backend in the dashboard's own uploader. */
export async function takeTrialToken(pipeId: string): Promise<TokenOrRefusal> {
  const { actor } = await enteredSession()
  return tokenOrRefusal(async () => {
    assertMay(actor, 'operate')
    const subject = `dashboard:${actor.id}`
    return issueTrialToken(getRuntime(), actor, textArgument(pipeId), { subject })
  })
}

export async function endTrialToken(id: string, how: 'expire' | 'revoke') {
  const { actor } = await enteredSession()
  return answer(undefined, async () => {
    assertMay(actor, 'operate')
    if (how === 'revoke') await revokeToken(getRuntime(), actor, textArgument(id))
    else await expireToken(getRuntime(), actor, textArgument(id))
    return undefined
  })
}

export type TrialResult = NonNullable<Awaited<ReturnType<typeof trialResult>>>

export async function lookAtTrial(fileId: string): Promise<TrialResult | undefined> {
  return trialResult(getRuntime(), await currentActor('see'), textArgument(fileId))
}
