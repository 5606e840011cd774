'use server'

import { act } from '#app/actions/act.ts'
import { bytesOf, listOf, textOf } from '#app/actions/form-fields.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { pipeChanges } from '#lib/workspace/pipes/pipe.ts'
import { updatePipe } from '#lib/workspace/pipes/update-pipe.ts'

export async function restrict(id: string, _previous: unknown, data: FormData) {
  return act('build', data, async (runtime, actor) => {
    const changes = {
      keyTemplate: textOf(data, 'keyTemplate') ?? '',
      maxFileBytes: bytesOf(data, 'maxFileBytes'),
      allowedTypes: listOf(data, 'allowedTypes'),
      allowedOrigins: listOf(data, 'allowedOrigins'),
      uploadExpirySeconds:
        Number(textOf(data, 'uploadExpirySeconds')) * Number(textOf(data, 'uploadExpiryUnit')),
      requireSubject: data.get('requireSubject') === 'on',
      verifyContent: data.get('verifyContent') === 'on',
      computeSha256: data.get('computeSha256') === 'on',
    }
    await updatePipe(runtime, actor, id, parseInput(pipeChanges, changes))
    return { message: 'Saved. Uploads in progress keep their settings.' }
  })
}
