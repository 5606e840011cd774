'use server'

import { act } from '#app/actions/act.ts'
import { passwordOf, textOf } from '#app/actions/form-fields.ts'
import { accountKeyInput, createAccountKey, revokeAccountKey } from '#lib/identity/accounts/account-keys.ts'
import { assertOwner } from '#lib/identity/accounts/assert-owner.ts'
import { days } from '#lib/platform/kernel/clock.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'

export async function createKey(_previous: unknown, data: FormData) {
  return act<{ key: string }>('build', data, async (runtime, actor, session) => {
    await assertOwner(runtime, session, passwordOf(data))
    const forDays = Number(textOf(data, 'days') ?? 0) || undefined
    const expiresAt = forDays && new Date(runtime.clock.now() + days(forDays)).toISOString()
    const given = { name: textOf(data, 'name') ?? '', scope: textOf(data, 'scope'), expiresAt }
    const input = parseInput(accountKeyInput, given)
    const { key } = await createAccountKey(runtime, actor, input)
    return { data: { key } }
  })
}

export async function revokeKey(id: string) {
  return act('build', async (runtime, actor) => {
    await revokeAccountKey(runtime, actor, id)
    return { message: 'The key was revoked.' }
  })
}
