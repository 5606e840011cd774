'use server'

import { act } from '#app/actions/act.ts'
import { textOf } from '#app/actions/form-fields.ts'
import { hookInput } from '#lib/hooks/hook.ts'
import { deleteHook, listHooks, revealHookSecret, rotateHookSecret, saveHook } from '#lib/hooks/pipe-hooks.ts'
import { type HookTest, testHook } from '#lib/hooks/test-hook.ts'
import { SluiceError } from '#lib/platform/kernel/errors.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'

type Secret = { secret: string }

/** Returns the secret of a new hook. */
export async function saveDecisionHook(pipeId: string, hook: string, _previous: unknown, data: FormData) {
  return act<Secret | undefined>('build', data, async (runtime, actor) => {
    const current = (await listHooks(runtime, actor, pipeId)).find((one) => one.hook === hook)
    const given = {
      url: textOf(data, 'url') ?? '',
      timeoutSeconds: Number(textOf(data, 'timeoutSeconds')),
      withoutAnswer: textOf(data, 'withoutAnswer'),
      enabled: current?.enabled ?? true,
    }
    const { secret } = await saveHook(runtime, actor, { pipeId, hook }, parseInput(hookInput, given))
    return { message: 'Saved.', data: secret === undefined ? undefined : { secret } }
  })
}

export async function switchHook(pipeId: string, hook: string, _previous: unknown, data: FormData) {
  return act('build', data, async (runtime, actor) => {
    const enabled = data.get('on') === 'on'
    const current = (await listHooks(runtime, actor, pipeId)).find((one) => one.hook === hook)
    if (!current) throw new SluiceError('not_found', 'This Pipe has no such hook.')
    const { url, timeoutSeconds, withoutAnswer } = current
    await saveHook(runtime, actor, { pipeId, hook }, { url, timeoutSeconds, withoutAnswer, enabled })
    return { message: enabled ? 'The hook is on.' : 'The hook is off. Uploads are allowed without it.' }
  })
}

export async function removeHook(pipeId: string, hook: string) {
  return act('build', async (runtime, actor) => {
    await deleteHook(runtime, actor, { pipeId, hook })
    return { message: 'Deleted.' }
  })
}

export async function revealSecretOfHook(pipeId: string, hook: string) {
  return act<Secret>('build', async (runtime, actor) => ({
    data: { secret: await revealHookSecret(runtime, actor, { pipeId, hook }) },
  }))
}

export async function rotateSecretOfHook(pipeId: string, hook: string) {
  return act<Secret>('build', async (runtime, actor) => {
    const { secret } = await rotateHookSecret(runtime, actor, { pipeId, hook })
    return { data: { secret } }
  })
}

export async function sendTestQuestion(pipeId: string, hook: string) {
  return act<HookTest>('operate', async (runtime, actor) => ({
    data: await testHook(runtime, actor, { pipeId, hook }),
  }))
}
