'use server'

import { redirect } from 'next/navigation'
import { plural } from '#components/format.ts'
import {
  cancelFile,
  cancelFiles,
  decideOnFile,
  eraseFile,
  eraseFiles,
  restoreFiles,
} from '#lib/dashboard/files/act-on-files.ts'
import { decisionInput } from '#lib/hooks/answers.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { repairDestination } from '#lib/uploads/repair/repair-destination.ts'
import { act } from '../../actions/act.ts'
import { assertConfirmed } from '../../actions/form-fields.ts'

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
  return act('operate', async (runtime, actor) => {
    const reason = String(data.get('reason') ?? '').trim()
    const decision = parseInput(decisionInput, { allow: false, ...(reason && { reason }) })
    await decideOnFile(runtime, actor, id, decision)
    return { message: 'The file was rejected.' }
  })
}

export async function erase(id: string, _previous: unknown, data: FormData) {
  return act('administer', async (runtime, actor) => {
    assertConfirmed(data)
    await eraseFile(runtime, actor, id)
    redirect('/dashboard/files')
  })
}

/**
 * Immediately copies the object to a destination that is missing it, instead of waiting for the next attempt.
 */
export async function repair(id: string, dataStoreId: string) {
  return act('operate', async (runtime, actor) => {
    await repairDestination(runtime, actor, { fileId: id, dataStoreId })
    return { message: 'The object is being copied.' }
  })
}

export async function cancelAll(ids: string[]) {
  return act('operate', async (runtime, actor) => {
    const canceled = await cancelFiles(runtime, actor, ids)
    return { message: `${plural(canceled, 'upload')} canceled.` }
  })
}

export async function eraseAll(ids: string[]) {
  return act('administer', async (runtime, actor) => ({
    data: { erased: await eraseFiles(runtime, actor, ids) },
  }))
}

export async function restoreAll(ids: string[]) {
  return act('administer', async (runtime, actor) => {
    const restored = await restoreFiles(runtime, actor, ids)
    return {
      message:
        restored === 0
          ? 'These records have already been erased.'
          : `${plural(restored, 'record')} restored.`,
    }
  })
}
