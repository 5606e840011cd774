'use server'

import { redirect } from 'next/navigation'
import { plural } from '#components/format.ts'
import {
  cancelFile,
  cancelFiles,
  eraseFile,
  eraseFiles,
  restoreFiles,
} from '#lib/dashboard/files/act-on-files.ts'
import { repairDestination } from '#lib/uploads/repair/repair-destination.ts'
import { act } from '../../actions/act.ts'
import { assertConfirmed } from '../../actions/form-fields.ts'

export async function cancel(id: string) {
  return act('operate', async (runtime, actor) => {
    await cancelFile(runtime, actor, id)
    return { message: 'The upload was canceled.' }
  })
}

export async function erase(id: string, _previous: unknown, data: FormData) {
  return act('administer', async (runtime, actor) => {
    assertConfirmed(data)
    await eraseFile(runtime, actor, id)
    redirect('/dashboard/files')
  })
}

/** Copies the object to a destination that lacks it, now instead of when the next attempt is due. */
export async function repair(id: string, dataStoreId: string) {
  return act('operate', async (runtime, actor) => {
    await repairDestination(runtime, actor, { fileId: id, dataStoreId })
    return { message: 'It is being copied.' }
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
      message: restored === 0 ? 'They are already gone.' : `${plural(restored, 'record')} brought back.`,
    }
  })
}
