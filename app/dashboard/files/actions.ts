'use server'

import { redirect } from 'next/navigation'
import { cancelFile } from '#lib/dashboard/files/cancel-file.ts'
import { eraseFile } from '#lib/dashboard/files/erase-file.ts'
import { act } from '../../actions/act.ts'
import { assertConfirmed } from '../../actions/form-fields.ts'

export async function cancel(id: string) {
  return act(async (runtime, actor) => {
    await cancelFile(runtime, actor, id)
    return { message: 'The upload was canceled.' }
  })
}

export async function erase(id: string, _previous: unknown, data: FormData) {
  return act(async (runtime, actor) => {
    assertConfirmed(data)
    await eraseFile(runtime, actor, id)
    redirect('/dashboard/files')
  })
}
