'use server'

import { actAsOperator } from '#app/actions/act.ts'
import { bytesOf, textArgument, textOf } from '#app/actions/form-fields.ts'
import {
  liftSuspension,
  limitsInput,
  limitWorkspace,
  suspendWorkspace,
  suspensionInput,
} from '#lib/dashboard/operators/steer-workspace.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'

export async function limit(id: string, _previous: unknown, data: FormData) {
  return actAsOperator(data, async (runtime, operator) => {
    const number = (name: string) => (textOf(data, name) === undefined ? null : Number(textOf(data, name)))
    const given = {
      transferLimitBytes: bytesOf(data, 'transferLimitBytes'),
      tokensPerSecond: number('tokensPerSecond'),
      memorySharePercent: number('memorySharePercent'),
      maxFileBytes: bytesOf(data, 'maxFileBytes'),
    }
    await limitWorkspace(runtime, operator, textArgument(id), parseInput(limitsInput, given))
    return { message: 'Saved. The new limits apply within seconds.' }
  })
}

export async function suspend(id: string, _previous: unknown, data: FormData) {
  return actAsOperator(data, async (runtime, operator) => {
    const given = parseInput(suspensionInput, { reason: textOf(data, 'reason') ?? '' })
    await suspendWorkspace(runtime, operator, textArgument(id), given)
    return { message: 'The workspace was suspended. Its members see the reason in the dashboard.' }
  })
}

export async function lift(id: string) {
  return actAsOperator(async (runtime, operator) => {
    await liftSuspension(runtime, operator, textArgument(id))
    return { message: 'The suspension was lifted. Uploads continue.' }
  })
}
