'use server'

import { redirect } from 'next/navigation'
import { act } from '#app/actions/act.ts'
import { assertConfirmed, textOf } from '#app/actions/form-fields.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { cancelUploadsOfPipe } from '#lib/recovery/cancel-uploads.ts'
import { deletePipe } from '#lib/workspace/pipes/delete-pipe.ts'
import { pipeChanges } from '#lib/workspace/pipes/pipe.ts'
import { updatePipe } from '#lib/workspace/pipes/update-pipe.ts'

export async function save(id: string, _previous: unknown, data: FormData) {
  return act('build', data, async (runtime, actor) => {
    const given = { name: textOf(data, 'name') ?? '' }
    await updatePipe(runtime, actor, id, parseInput(pipeChanges, given))
    return { message: 'Saved.' }
  })
}

export async function remove(id: string, _previous: unknown, data: FormData) {
  return act('build', data, async (runtime, actor) => {
    assertConfirmed(data)
    await deletePipe(runtime, actor, id, cancelUploadsOfPipe(runtime))
    redirect('/dashboard/pipes')
  })
}
