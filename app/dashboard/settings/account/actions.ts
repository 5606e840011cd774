'use server'

import { redirect } from 'next/navigation'
import { act } from '#app/actions/act.ts'
import { passwordOf, textOf } from '#app/actions/form-fields.ts'
import { accountDeletion, deleteAccount } from '#lib/identity/accounts/delete-account.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { cancelUploadsOfPipe } from '#lib/recovery/cancel-uploads.ts'

export async function removeAccount(_previous: unknown, data: FormData) {
  return act('see', data, async (runtime, _actor, session) => {
    const given = { email: textOf(data, 'email') ?? '', password: passwordOf(data) }
    await deleteAccount(runtime, session, parseInput(accountDeletion, given), cancelUploadsOfPipe(runtime))
    redirect('/')
  })
}
