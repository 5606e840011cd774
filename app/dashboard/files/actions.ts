'use server'

import { act } from '#app/actions/act.ts'
import { textOf } from '#app/actions/form-fields.ts'
import { plural } from '#components/format.ts'
import { sealBatch } from '#lib/batches/seal-batch.ts'
import { cancelFiles, decideOnFiles, eraseFiles, restoreFiles } from '#lib/dashboard/files/act-on-files.ts'
import { decisionInput } from '#lib/hooks/answers.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'

export async function cancelAll(ids: string[]) {
  return act('operate', async (runtime, actor) => {
    const canceled = await cancelFiles(runtime, actor, ids)
    return { message: `${plural(canceled, 'upload')} canceled.` }
  })
}

export async function allowAll(ids: string[]) {
  return act('operate', async (runtime, actor) => {
    const allowed = await decideOnFiles(runtime, actor, ids, { allow: true })
    return { message: `${plural(allowed, 'file')} allowed.` }
  })
}

export async function rejectAll(ids: string[], _previous: unknown, data: FormData) {
  return act('operate', data, async (runtime, actor) => {
    const reason = textOf(data, 'reason')
    const decision = parseInput(decisionInput, { allow: false, ...(reason && { reason }) })
    const rejected = await decideOnFiles(runtime, actor, ids, decision)
    return { message: `${plural(rejected, 'file')} rejected.` }
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

export async function seal(batchId: string) {
  return act('operate', async (runtime, actor) => {
    await sealBatch(runtime, actor, batchId)
    return { message: 'The batch is sealed.' }
  })
}
