'use server'

import { redirect } from 'next/navigation'
import { act } from '#app/actions/act.ts'
import { assertConfirmed, textOf } from '#app/actions/form-fields.ts'
import { cancelFile, decideOnFile, eraseFile } from '#lib/dashboard/files/act-on-files.ts'
import { decisionInput } from '#lib/hooks/answers.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { requestRepair } from '#lib/repairs/request-repair.ts'

export async function cancel(id: string) {
  return act('operate', async (runtime, actor) => {
    await cancelFile(runtime, actor, id)
    return { message: 'The upload was canceled.' }
  })
}

export async function allow(id: string) {
  return act('operate', async (runtime, actor) => {
    await decideOnFile(runtime, actor, id, { allow: true })
    return { message: 'The file is allowed. Its object is being created.' }
  })
}

export async function reject(id: string, _previous: unknown, data: FormData) {
  return act('operate', data, async (runtime, actor) => {
    const reason = textOf(data, 'reason')
    const decision = parseInput(decisionInput, { allow: false, ...(reason && { reason }) })
    await decideOnFile(runtime, actor, id, decision)
    return { message: 'The file was rejected.' }
  })
}

export async function erase(id: string, _previous: unknown, data: FormData) {
  return act('administer', data, async (runtime, actor) => {
    assertConfirmed(data)
    await eraseFile(runtime, actor, id)
    redirect('/dashboard/files')
  })
}

/** Immediately copies the object to a destination that is missing it, instead of waiting for the next attempt. */
export async function repair(id: string, dataStoreId: string) {
  return act('operate', async (runtime, actor) => {
    await requestRepair(runtime, actor, { fileId: id, dataStoreId })
    return { message: 'The object is being copied.' }
  })
}
