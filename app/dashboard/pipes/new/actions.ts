'use server'

import { redirect } from 'next/navigation'
import { act } from '#app/actions/act.ts'
import { textOf } from '#app/actions/form-fields.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { createPipe } from '#lib/workspace/pipes/create-pipe.ts'
import { pipeInput } from '#lib/workspace/pipes/pipe.ts'

/** The form suggests switching on the HTTP source, because the creator usually wants to use the Pipe right away. */
export async function create(_previous: unknown, data: FormData) {
  return act('build', data, async (runtime, actor) => {
    const given = {
      name: textOf(data, 'name'),
      dataStoreId: textOf(data, 'dataStoreId'),
      source: { http: data.get('sourceHttp') === 'on' },
    }
    const pipe = await createPipe(runtime, actor, parseInput(pipeInput, given))
    redirect(`/dashboard/pipes/${pipe.id}`)
  })
}
