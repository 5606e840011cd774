'use server'

import { act } from '#app/actions/act.ts'
import { plural } from '#components/format.ts'
import { cancelFiles, eraseFiles, restoreFiles } from '#lib/dashboard/files/act-on-files.ts'

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
